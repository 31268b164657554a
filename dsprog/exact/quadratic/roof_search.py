"""A short depth-first search with roof duality at every node: it closes most sparse and small problems in milliseconds.

The doubled network (see :mod:`dsprog.presolve.roof`) has the same arcs at every node; fixing variables only changes
capacities. With w_i the field of the free variables and c the value of the fixed ones, the terminals are -½w_i at p_i
and ½w_i at q_i, every arc carries ¼|P_ij|, and

    lower = c + ½ Σ u_i + ¼ Σ_i Σ_{j, P_ij < 0} P_ij - ½ Σ |w_i| + flow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dsprog.core.kernel import kernel, part
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.presolve.roof import doubled
from dsprog.submodular.boykov_kolmogorov import max_flow_kernel, reachable_kernel, sisters

LOOK = 16  # at this part of its nodes the search ends if it has not closed a quarter of that part of the tree
LEAST = 0.25 / LOOK


class Pairs(NamedTuple):
    """The quadratic function: u, and P in compressed rows."""

    u: Floats
    indptr: Ints
    indices: Ints
    data: Floats


class Network(NamedTuple):
    """The doubled network: arcs in compressed rows, the arc back of each, and their capacities with nothing fixed."""

    indptr: Ints
    heads: Ints
    sister: Ints
    full: Floats


class Flow(NamedTuple):
    """What a node leaves of the capacities of arcs and terminals, and the nodes that the source reaches then."""

    residual: Floats
    terminal: Floats
    reached: Masks


@part
def roof_kernel(pairs, labels, network, flow):
    """Roof bound of a partial labelling, without the constant; ``flow.reached`` receives the smallest minimiser."""
    u, indptr, indices, data = pairs.u, pairs.indptr, pairs.indices, pairs.data
    residual, terminal, reached = flow.residual, flow.terminal, flow.reached
    heads, full = network.heads, network.full
    n = len(u)
    lower = 0.0
    for i in range(n):
        terminal[i] = terminal[n + i] = 0.0
        if labels[i] == 0:
            continue
        field, free, negative = u[i], 0.0, 0.0
        for p in range(indptr[i], indptr[i + 1]):
            label = labels[indices[p]]
            if label == 1:
                field += data[p]
            elif label < 0:
                free += data[p]
                negative += min(0.0, data[p])
        if labels[i] == 1:
            lower += 0.5 * (field + u[i])  # each pair of ones is halved, and met twice
            continue
        w = field + 0.5 * free
        terminal[i], terminal[n + i] = -0.5 * w, 0.5 * w
        lower += 0.5 * field + 0.25 * negative - 0.5 * abs(w)
    for i in range(2 * n):
        for a in range(network.indptr[i], network.indptr[i + 1]):
            free_arc = labels[i % n] < 0 and labels[heads[a] % n] < 0
            residual[a] = full[a] if free_arc else 0.0
    lower += max_flow_kernel(network.indptr, heads, network.sister, residual, terminal)
    for a in range(len(residual)):
        if residual[a] <= 1e-12 * full[a]:
            residual[a] = 0.0
    reached[:] = False
    reachable_kernel(network.indptr, heads, network.sister, residual, terminal, True, reached)
    return lower


@kernel
def roof_search_kernel(pairs, network, best, value, slack, step, nodes):
    """Search until closed or out of nodes; ``best`` is improved in place. Returns value, nodes used, and if closed.

    A node is closed where no multiple of ``step`` (0: no number) lies from its bound up to value - slack. The share of
    the tree that is closed, Σ 2^-depth, says early whether the rest of the nodes would be enough.
    """
    u, indptr, indices, data = pairs.u, pairs.indptr, pairs.indices, pairs.data
    n = len(u)
    labels, trail, length = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    # at each depth: the length of the trail, the variable branched on, and whether its second label is being tried
    mark, chosen = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    second = np.empty(n + 1, dtype=np.bool_)
    flow = Flow(np.empty(len(network.full)), np.empty(2 * n), np.empty(2 * n, dtype=np.bool_))
    reached = flow.reached
    for i in range(n):
        labels[i] = -1
    depth, used, share = 0, 0, 0.0
    while True:
        if used == nodes or (used == nodes // LOOK and share < LEAST):
            return value, used, False
        used += 1
        lower = roof_kernel(pairs, labels, network, flow)
        if step > 0.0:
            lower = step * np.ceil(lower / step - 1e-5)
        if lower < value - slack:
            for i in range(n):
                if labels[i] < 0 and reached[i] != reached[n + i]:
                    labels[i] = 1 if reached[i] else 0
                    trail[length] = i
                    length += 1
            if length == n:  # every variable has its label: the bound is the value
                value = 0.0
                for i in range(n):
                    best[i] = labels[i] == 1
                    if best[i]:
                        value += u[i]
                        for p in range(indptr[i], indptr[i + 1]):
                            if labels[indices[p]] == 1:
                                value += 0.5 * data[p]
            else:
                branch, heaviest = -1, -1.0
                for i in range(n):
                    if labels[i] >= 0:
                        continue
                    weight = 0.0
                    for p in range(indptr[i], indptr[i + 1]):
                        if labels[indices[p]] < 0:
                            weight += abs(data[p])
                    if weight > heaviest:
                        branch, heaviest = i, weight
                depth += 1
                mark[depth], chosen[depth], second[depth] = length, branch, False
                labels[branch] = 0 if best[branch] else 1
                trail[length] = branch
                length += 1
                continue
        share += 0.5**depth
        while depth > 0 and second[depth]:
            depth -= 1
        if depth == 0:
            return value, used, True
        label = labels[chosen[depth]]
        while length > mark[depth]:
            length -= 1
            labels[trail[length]] = -1
        labels[chosen[depth]], second[depth] = 1 - label, True
        trail[length] = chosen[depth]
        length += 1


def roof_search(
    form: QuadraticForm, mask: Masks, steps: Steps, slack: float, nodes: int
) -> tuple[Masks, float, int, bool]:
    """Improve a set until it is proved (up to ``slack``) or ``nodes`` are used up: set, value, nodes, and if proved.

    >>> import numpy as np
    >>> form = QuadraticForm.dense([-1.0, -1.0, -1.0], 2.0 - 2.0 * np.eye(3))
    >>> roof_search(form, np.zeros(3, dtype=bool), Steps.of(form), 0.0, 100)[1::2]
    (-1.0, True)
    """
    double = doubled(form)
    indptr, heads = double.pairs.indptr.astype(np.int64), double.pairs.indices.astype(np.int64)
    network, best = Network(indptr, heads, sisters(indptr, heads), -0.5 * double.pairs.data), mask.copy()
    value = float(form.values(mask[None])[0]) - form.constant
    rounding = 0.0 if steps.size else 1e-12 * form.scale
    value, used, closed = roof_search_kernel(
        Pairs(*form.compiled), network, best, value, slack - rounding, steps.size, nodes
    )
    return best, value + form.constant, used, closed
