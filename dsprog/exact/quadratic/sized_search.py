"""Branch and bound for quadratic functions over the sets of given sizes, and for lists of their best sets.

Sets of one size k have (|S| - k)² = 0, and that is quadratic: for any t

    E_t(S) = E(S) + t (|S| - k)² = E(S)          for every S with |S| = k,

so that bounds on E_t over all sets are bounds on E over those of size k. With signs the row is c's = 0 for
c = (2k - n, 1, ..., 1); as t grows, Xc = 0 holds in the semidefinite bound, and with it every product of the row with a
sign. Where a <= |S| <= b the root is split into one node for each size.

No step rests on one optimum being enough, so that without limits on sizes (t = 0) the same search lists the best sets.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, combinations
from math import comb

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.quadratic.exchange_tabu import exchange_tabu, resized
from dsprog.exact.quadratic.semidefinite_bound import SemidefinitePoint
from dsprog.exact.quadratic.semidefinite_path import InteriorPoint
from dsprog.exact.quadratic.semidefinite_search import SemidefiniteSearch
from dsprog.run.driver import Bundle, Expansion, Method
from dsprog.run.run import Run

FEW = 4096  # sets of a node that are enumerated
WEIGHT = 32.0  # t, in the largest coefficient of a pair; beyond 100 times that rounding shows
ANY = -1  # in place of a size

Sizes = tuple[int, int]


def sizes_of(problem: Problem) -> Sizes | None:
    """(a, b) if the constraints say a <= |S| <= b and nothing else; to be asked for by ``problem.derived``.

    Rows of one weight each count elements, so that one set of every size shows which sizes they allow.
    """
    n, rows = problem.n, problem.rows
    if len(rows) == 0:
        return 0, n
    if (rows.A[:, :1] <= 0).any() or (rows.A[:, :1] != rows.A).any():
        return None
    allowed = np.flatnonzero(problem.feasible(np.tri(n + 1, n, -1, dtype=bool)))
    return (int(allowed[0]), int(allowed[-1])) if len(allowed) else (1, 0)


class SizedSearch(Method):
    """Best-first search over partial labellings; a node of :class:`SemidefiniteSearch` and the ``size`` of its sets."""

    name = "the semidefinite bound with sizes, triangle and pentagon cuts"

    def __init__(
        self, problem: Problem, run: Run, form: QuadraticForm, steps: Steps, rng: np.random.Generator, sizes: Sizes
    ) -> None:
        super().__init__(problem, run)
        self.form, self.steps, self.rng, self.sizes = form, steps, rng, sizes
        self.inner: dict[int, SemidefiniteSearch] = {}

    @property
    def free_size(self) -> bool:
        """Whether every size is allowed."""
        return self.sizes == (0, self.form.n)

    @property
    def weight(self) -> float:
        """t."""
        return WEIGHT * float(np.abs(self.form.pairs.data).max(initial=0.0))

    @cached_property
    def mirrored(self) -> bool:
        """Whether V∖S is feasible with S and has the same value, and one of them is enough: a + b = n, and no field."""
        balanced = sum(self.sizes) == self.form.n and not self.run.lists
        return balanced and bool(np.abs(self.form.field).max(initial=0.0) <= 1e-12 * self.form.scale)

    def of_size(self, k: int) -> SemidefiniteSearch:
        """The search on E_t for a size; its bounds are rounded to values that E can take."""
        if k not in self.inner:
            form = self.form if k == ANY else with_size(self.form, k, self.weight)
            search = SemidefiniteSearch(self.problem, self.run, form, self.steps, self.rng, InteriorPoint())
            search.settles = False  # one optimum of E_t is not enough: it may have another size
            self.inner[k] = search
        return self.inner[k]

    def root(self) -> Bundle | None:
        """Nothing fixed; None where no size is allowed."""
        if self.sizes[0] > self.sizes[1]:
            return None
        lower, nothing = min(self.run.lower_bound, self.run.value), np.full((1, self.form.n), -1)
        return {"lower": np.array([lower]), "labels": nothing, "size": np.array([ANY])}

    def roots(self, lower: float) -> list[Bundle]:
        """A node for each size, of two that mirror each other one."""
        smallest, largest = self.sizes
        if self.mirrored:
            smallest = (self.form.n + 1) // 2
        nodes = []
        for k in [ANY] if self.free_size else range(smallest, largest + 1):
            node = {**self.of_size(k).root(), "lower": np.array([lower]), "size": np.array([k])}
            if k != ANY:
                node["y"] = self.first_point(k)[None]
            if self.mirrored and 2 * k == self.form.n and k:
                node["labels"][0, int(np.argmax(np.diff(self.form.pairs.indptr)))] = 0
            nodes.append(node)
        return nodes

    def first_point(self, k: int) -> Floats:
        """y at which Z = Diag(y) - C is positive definite for the C of E_t, at a bound as if there were no t.

        C_t = C - (t/4)(cc' - Diag(c²)), so that y + (t/4) c² gives Z + (t/4) cc' where y gives Z for C.
        """
        c = np.append(2.0 * k - self.form.n, np.ones(self.form.n))
        y = SemidefinitePoint.diagonally_dominant(self.form.spin_matrix()[0]).y
        return np.asarray(y + 0.25 * self.weight * c**2)

    def start(self) -> None:
        """Tabu search with exchanges from random sets of the right sizes."""
        if not self.form.n or self.sizes[0] > self.sizes[1]:
            return
        starts = resized(self.form, self.sizes, self.rng.random((10, self.form.n)) < np.mean(self.sizes) / self.form.n)
        for start in starts:
            self.run.offer(*self.improved(start[None], 5 * self.form.n), "tabu search")
            if self.run.stop_reason() is not None:
                return

    def proof(self) -> str:
        """In words."""
        return f"branch and bound with {self.name}"

    def expand(self, bundle: Bundle, cutoff: float) -> Expansion:
        """Enumerate a node of few sets; bound another, and close it or fix one more variable both ways."""
        labels, parent, k = bundle["labels"][0], float(bundle["lower"][0]), int(bundle["size"][0])
        inside, free = int((labels == 1).sum()), np.flatnonzero(labels < 0)
        smallest, largest = self.sizes if k == ANY else (k, k)
        low, high = max(0, smallest - inside), min(len(free), largest - inside)
        if low > high:
            return Expansion([], 1, np.zeros((0, self.form.n), dtype=bool), np.zeros(0))
        if sum(comb(len(free), size) for size in range(low, high + 1)) <= FEW:
            masks = completions(labels, free, low, high)
            values = self.form.values(masks)
            return Expansion([], 1, masks, values, max(parent, float(values.min())), "enumeration")
        if "y" not in bundle:
            return Expansion(self.roots(parent), 0, np.zeros((0, self.form.n), dtype=bool), np.zeros(0))
        found = self.of_size(k).expand(bundle, cutoff)
        children = [{**child, "size": bundle["size"]} for child in found.bundles]
        return Expansion(children, found.nodes, *self.improved(found.masks), found.closed, "semidefinite")

    def improved(self, masks: Masks, steps: int = 0) -> tuple[Masks, Floats]:
        """Feasible sets near those that the bound suggests; with all around them where several are wanted."""
        starts = np.unique(resized(self.form, self.sizes, masks), axis=0)
        found, values = exchange_tabu(self.form, self.sizes, starts, self.rng, steps or self.form.n)
        if not self.run.lists or not len(found):
            return found, values
        near = np.vstack([found, around(found[int(values.argmin())])])
        size = near.sum(axis=1)
        near = near[(size >= self.sizes[0]) & (size <= self.sizes[1])]
        return near, self.form.values(near)


def around(mask: Masks) -> Masks:
    """All sets that differ from one in one or two elements."""
    n = len(mask)
    i, j = np.triu_indices(n)
    near = np.repeat(mask[None], len(i), axis=0)
    near[np.arange(len(i)), i] ^= True
    near[np.arange(len(i)), j] ^= i != j
    return near


def with_size(form: QuadraticForm, k: int, t: float) -> QuadraticForm:
    """E + t(|S| - k)² = E + t(k² + (1 - 2k)|S| + 2 Σ_{i<j} x_i x_j)."""
    pairs = form.pairs.toarray() + 2 * t * (1.0 - np.eye(form.n))
    return QuadraticForm.dense(form.u + t * (1 - 2 * k), pairs, form.constant + t * k * k)


def completions(labels: Ints, free: Ints, low: int, high: int) -> Masks:
    """All sets with the given labels and ``low`` to ``high`` of the free elements."""
    masks = np.repeat((labels == 1)[None], sum(comb(len(free), size) for size in range(low, high + 1)), axis=0)
    first = 0
    for size in range(low, high + 1):
        count = comb(len(free), size)
        flat = chain.from_iterable(combinations(free.tolist(), size))
        chosen = np.fromiter(flat, dtype=np.int64, count=count * size)
        rows = np.repeat(np.arange(first, first + count), size)
        masks[rows, chosen] = True
        first += count
    return masks
