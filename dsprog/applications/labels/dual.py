"""A lower bound for energies over labels: a dual of the linear relaxation, raised by messages between sites.

An edge e = (i, j) gives m_ei(a) to its end i and m_ej(b) to j, and pays for it, which leaves every energy as it is:

    θ_i(a) = u_i(a) + Σ_{e∋i} m_ei(a),   θ_e(a, b) = c_e(a, b) - m_ei(a) - m_ej(b),
    E(x) = constant + Σ_i θ_i(x_i) + Σ_e θ_e(x_i, x_j)
        >= constant + Σ_i min_a θ_i(a) + Σ_e min_ab θ_e(a, b),

whatever the messages. The best ones reach the bound of the linear relaxation over local marginals (on a tree the
minimum itself, with two labels the roof dual). Sweeps over the sites, to and fro, raise it as Kolmogorov's
sequential reweighting does: a site takes what the edges to sites before it can give (m_ei becomes min_b of what is
left, so that no minimum falls), and shares what it has among the edges ahead. No step lowers the bound; the sweeps
may stop a little below the best one, at a point that none of their steps improves.

A labelling with x_i = a costs at least the bound plus its *rise*

    r_i(a) = θ_i(a) - min θ_i + Σ_{e∋i} (min_b θ_e(a, b) - min θ_e),

so that a label whose rise reaches the gap is removed from its site: no better labelling has it.

Rounding: with unit roundoff ε a summand is computed with an error of at most (degree + 3) ε times the absolute values
that went into it, and they are added up exactly (``fsum``). Twice that is taken off the bound, and off the rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dsprog.applications.labels.label_problem import LabelProblem
from dsprog.core.kernel import kernel, part
from dsprog.core.validation import Floats, Ints, Masks

EPS = float(np.finfo(float).eps)  # twice the unit roundoff


@part
def pull(weight, table, paid, allowed, out):
    """min over allowed b of weight · table[b, a] - paid[b], for each a; compilers make the inner loop wide."""
    for a in range(len(out)):
        out[a] = np.inf
    for b in range(len(out)):
        if allowed[b]:
            for a in range(len(out)):
                cost = weight * table[b, a] - paid[b]
                out[a] = cost if cost < out[a] else out[a]


@kernel
def sweep_kernel(links, unary, allowed, messages, forward, labels):
    """One sweep; ``labels`` becomes a labelling, each site at its best given those before it."""
    n, count = unary.shape
    theta, given, pulled = np.empty(count), np.empty(count), np.empty(count)
    for step in range(n):
        i = step if forward else n - 1 - step
        behind = ahead = 0
        for a in range(count):
            theta[a], given[a] = unary[i, a], 0.0
        for p in range(links.indptr[i], links.indptr[i + 1]):
            e, j = links.edge[p], links.other[p]
            side = 0 if i < j else 1
            if (j < i) != forward:
                ahead += 1
                for a in range(count):
                    theta[a] += messages[e, side, a]
                continue
            behind += 1
            w, table = links.weights[e], links.tables[1 - side, links.which[e]]
            pull(w, table, messages[e, 1 - side], allowed[j], pulled)
            least = np.inf
            for a in range(count):
                if allowed[i, a] and pulled[a] < least:
                    least = pulled[a]
            for a in range(count):  # what all labels would get stays with the edge: messages remain small
                message = pulled[a] - least
                messages[e, side, a] = message
                theta[a] += message
                given[a] += w * table[labels[j], a] - message
        best, least, lowest = -1, np.inf, np.inf
        for a in range(count):
            if allowed[i, a]:
                lowest = min(lowest, theta[a])
                if best < 0 or theta[a] + given[a] < least:
                    best, least = a, theta[a] + given[a]
        labels[i] = best
        share = 1.0 / max(1, behind, ahead)
        for p in range(links.indptr[i], links.indptr[i + 1]):
            j = links.other[p]
            if (j < i) != forward:
                side = 0 if i < j else 1
                for a in range(count):
                    messages[links.edge[p], side, a] -= share * (theta[a] - lowest)


@kernel
def bound_kernel(links, unary, allowed, messages, least, sizes, rises):
    """The minimum of every summand and the absolute values in it, sites first, then edges; and the rises."""
    n, count = unary.shape
    pulled = np.empty(count)
    for i in range(n):
        least[i], sizes[i] = np.inf, 0.0
        for a in range(count):
            theta, size = unary[i, a], abs(unary[i, a])
            for p in range(links.indptr[i], links.indptr[i + 1]):
                message = messages[links.edge[p], 0 if i < links.other[p] else 1, a]
                theta += message
                size += abs(message)
            rises[i, a] = theta
            if allowed[i, a]:
                least[i], sizes[i] = min(least[i], theta), max(sizes[i], size)
        for a in range(count):
            rises[i, a] -= least[i]
    for i in range(n):
        for p in range(links.indptr[i], links.indptr[i + 1]):
            e, j = links.edge[p], links.other[p]
            w, k = links.weights[e], links.which[e]
            side = 0 if i < j else 1
            pull(w, links.tables[1 - side, k], messages[e, 1 - side], allowed[j], pulled)
            lowest, paid = np.inf, 0.0
            for a in range(count):
                pulled[a] -= messages[e, side, a]
                if allowed[i, a]:
                    lowest = min(lowest, pulled[a])
                    paid = max(paid, abs(messages[e, side, a]))
            for a in range(count):
                rises[i, a] += pulled[a] - lowest
            if side == 0:
                least[n + e], sizes[n + e] = lowest, abs(w) * links.largest[k] + paid
            else:
                sizes[n + e] += paid  # the other end came before


@dataclass(frozen=True)
class LabelBound:
    """``lower`` <= E(x) for all labellings with allowed labels, and ``lower`` + ``rises[i, a]`` if x_i = a."""

    lower: float
    rises: Floats


class Dual:
    """Messages, and the labels that are still allowed: two things that a search changes."""

    def __init__(self, problem: LabelProblem, allowed: Masks, messages: Floats | None = None) -> None:
        self.problem, self.allowed = problem, allowed
        shape = (len(problem.first), 2, problem.count)
        self.messages = np.zeros(shape) if messages is None else messages

    @property
    def is_empty(self) -> bool:
        """Whether a site has no label left."""
        return not self.allowed.any(axis=1).all()

    def sweep(self, forward: bool) -> Ints:
        """Raise the bound; returns a labelling."""
        labels = np.empty(self.problem.n, dtype=np.int64)
        sweep_kernel(self.problem.links, self.problem.unary, self.allowed, self.messages, forward, labels)
        return labels

    def bound(self) -> LabelBound:
        """What the messages prove; infinite if a site has no label left."""
        problem = self.problem
        rises = np.empty(problem.unary.shape)
        if self.is_empty:
            return LabelBound(math.inf, np.full(problem.unary.shape, math.inf))
        least, sizes = np.empty(problem.n + len(problem.first)), np.empty(problem.n + len(problem.first))
        bound_kernel(problem.links, problem.unary, self.allowed, self.messages, least, sizes, rises)
        slack = (problem.degree + 4) * EPS * (float(sizes.sum()) + abs(problem.constant))
        rises[~self.allowed] = math.inf
        return LabelBound(math.fsum([problem.constant, *least.tolist()]) - slack, rises - slack)

    def prune(self, bound: LabelBound, target: float) -> int:
        """Remove labels that only labellings from ``target`` on have; how many."""
        removed = self.allowed & (bound.lower + bound.rises >= target)
        self.allowed[removed] = False
        return int(removed.sum())
