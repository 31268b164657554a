"""What can be taken off a quadratic function before a search: exact reductions, and the way back from their solutions.

- Roof duality labels variables that some optimum has so.
- A variable with at most two neighbours is eliminated: min over x_i of u x_i + a x_i x_j + b x_i x_k depends on two
  variables, and every function of two 0/1 variables is quadratic. Trees and series-parallel parts vanish.
- A function with E(x) = E(1 - x) has an optimum with any one variable 0.
- Connected components are minimised one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Ints, Masks
from dsprog.presolve.roof import roof_duality


@dataclass(frozen=True)
class Elimination:
    """Variable ``i`` was minimised out; it is 1 where ``u`` + Σ weights of its neighbours that are 1 is negative."""

    i: int
    u: float
    neighbours: list[int]
    weights: list[float]


@dataclass(frozen=True)
class Reduced:
    """Connected ``parts`` with the variables that each has, the labels fixed before, and what was eliminated.

    The minimum of the whole is ``constant`` plus the minima of the parts, whose own constants are 0.
    """

    n: int
    constant: float
    parts: list[tuple[QuadraticForm, Ints]]
    labels: Ints
    eliminated: list[Elimination]

    def lifted(self, masks: list[Masks]) -> Masks:
        """Batches of masks of the parts, all of one length, as masks of the whole."""
        count = len(masks[0]) if masks else 1
        whole = np.repeat((self.labels == 1)[None], count, axis=0)
        for (_, elements), part in zip(self.parts, masks):
            whole[:, elements] = part
        for step in reversed(self.eliminated):
            field = step.u + whole[:, step.neighbours] @ np.array(step.weights)
            whole[:, step.i] = field < 0
        return whole


def reduce_form(form: QuadraticForm) -> Reduced:
    """All reductions, smallest part first."""
    labels = roof_duality(form).labels
    rest, free = form.fixed(labels)
    if rest.n and not np.abs(rest.field).max() > 1e-12 * rest.scale:  # E(x) = E(1 - x)
        hub = np.zeros(rest.n, dtype=np.int64) - 1
        hub[int(np.argmax(np.diff(rest.pairs.indptr)))] = 0
        labels[free[hub == 0]] = 0
        rest, left = rest.fixed(hub)
        free = free[left]
    rest, kept, eliminated = eliminate(rest)
    for k, step in enumerate(eliminated):
        eliminated[k] = Elimination(int(free[step.i]), step.u, free[step.neighbours].tolist(), step.weights)
    free = free[kept]
    parts = [(part, free[elements]) for part, elements in components(rest)]
    return Reduced(form.n, rest.constant, parts, labels, eliminated)


def eliminate(form: QuadraticForm) -> tuple[QuadraticForm, Ints, list[Elimination]]:
    """Minimise out variables with at most two neighbours until there is none."""
    import scipy.sparse as sparse

    u, constant = form.u.tolist(), form.constant
    indptr, indices, data = form.pairs.indptr.tolist(), form.pairs.indices.tolist(), form.pairs.data.tolist()
    near = [dict(zip(indices[a:z], data[a:z])) for a, z in pairwise(indptr)]
    steps: list[Elimination] = []
    alive = [True] * form.n
    waiting = [i for i in range(form.n) if len(near[i]) <= 2]
    while waiting:
        i = waiting.pop()
        if not alive[i] or len(near[i]) > 2:
            continue
        alive[i] = False
        neighbours, weights = list(near[i]), list(near[i].values())
        steps.append(Elimination(i, u[i], neighbours, weights))
        base = min(0.0, u[i])
        constant += base
        gains = [min(0.0, u[i] + w) - base for w in weights]
        for j, gain in zip(neighbours, gains):
            u[j] += gain
            del near[j][i]
        if len(neighbours) == 2:
            j, k = neighbours
            pair = min(0.0, u[i] + sum(weights)) - base - sum(gains) + near[j].get(k, 0.0)
            if pair != 0.0:
                near[j][k] = near[k][j] = pair
            elif k in near[j]:
                del near[j][k], near[k][j]
        waiting += [j for j in neighbours if len(near[j]) <= 2]
    kept = np.flatnonzero(alive)
    entries = [(i, j, w) for i in kept.tolist() for j, w in near[i].items()]
    rows, columns, values = zip(*entries) if entries else ((), (), ())
    pairs = sparse.csr_array((np.array(values, dtype=float), (rows, columns)), shape=(form.n, form.n))
    return QuadraticForm.sparse(np.array(u)[kept], pairs[kept][:, kept], constant), kept, steps


def components(form: QuadraticForm) -> list[tuple[QuadraticForm, Ints]]:
    """Connected components with constant 0, the smallest first."""
    from scipy.sparse.csgraph import connected_components

    if form.n == 0:
        return []
    count, label = connected_components(form.pairs, directed=False)
    order = np.argsort(np.bincount(label), kind="stable")
    groups = [np.flatnonzero(label == k) for k in order] if count > 1 else [np.arange(form.n)]
    return [(QuadraticForm.sparse(form.u[group], form.pairs[group][:, group]), group) for group in groups]
