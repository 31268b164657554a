"""Exact minimisation of functions of bounded width, by dynamic programming: bucket elimination.

With elements in an order j_1, ..., j_n every function is a sum of gains,

    f(S) = f(∅) + Σ_k [j_k ∈ S] f(j_k | S ∩ {j_{k+1}, ..., j_n}),

and a gain depends only on the later elements that share a group with j_k. So j_1 is minimised out first: for each set U
of its neighbours

    m(U) = min( messages(U), f(j_1 | U) + messages(U ∪ j_1) ),

where the *messages* are the tables that earlier elements left with j_1 among their neighbours, and so on. Nothing is
assumed of f but its groups. Time and memory are 2^width; a bit an entry is kept to find the minimiser on the way back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dsprog.approximate.local_search import LocalSearch
from dsprog.core.kernel import kernel
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks, as_count, both_ends
from dsprog.exact.elimination.elimination_order import EliminationOrder, elimination_order
from dsprog.exact.floor import floor
from dsprog.presolve.quadratic import form_of
from dsprog.run.needs import NO_CONSTRAINTS, Need
from dsprog.run.result import Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver

WIDEST = 25  # neighbours: a table takes 2^25 numbers, 256 MiB, and two or three of them are alive at a time
FURTHEST = 30  # neighbours up to which an order is looked for
MOST = 5000  # elements that are put in order, which takes a tenth of a millisecond each
CHUNK = 16  # bits of a table that are worked on at a time, so that all of it stays in cache and limits hold
LONG = 1 << 22  # entries beyond which local search comes first
EPS = float(np.finfo(float).eps)


@kernel
def add_message_kernel(table, places, base, with_j, zero, one):
    """Add a message to both ways of an element: ``places`` says where its entries lie, ``with_j`` how much further."""
    for i in range(len(places)):
        k = base + places[i]
        zero[i] += table[k]
        one[i] += table[k + with_j]


@kernel
def choose_kernel(zero, one, out, chosen):
    """The lesser of both, and a bit for each entry that says which; eight of them are a byte."""
    for i in range(len(zero)):
        if i % 8 == 0:
            chosen[i // 8] = 0
        if one[i] < zero[i]:
            out[i] = one[i]
            chosen[i // 8] |= 1 << (i % 8)
        else:
            out[i] = zero[i]


def order_of(problem: Problem) -> EliminationOrder | None:
    """A narrow order of the elements, if one is found; to be asked for by ``problem.derived``."""
    if problem.n > MOST:
        return None
    form = problem.derived(form_of)
    if form is not None and form.pairs.nnz > 2 * FURTHEST * form.n:  # eliminating adds pairs, at most width each time
        return None
    return elimination_order(problem.n, problem.objective.groups(), FURTHEST)


def width_at_most(widest: int) -> Need:
    """That an order was found, and tables fit."""
    return Need(
        f"elements that can be eliminated with at most {widest} neighbours each (widest=)",
        lambda problem: (order := problem.derived(order_of)) is not None and order.width <= widest,
    )


@dataclass(frozen=True)
class BucketElimination(Solver):
    """Exact minimisation where few elements are joined at a time: 2^width steps, whatever the function.

    ``minimize`` chooses it for polynomials (:class:`dsprog.PseudoBoolean`) of width up to 25 and for narrow quadratic
    functions. An element has as many neighbours as share a group with it; min-fill finds the order.

    Parameters
    ----------
    widest : int
        Neighbours of an element when its turn comes, at most: tables take 24 * 2**widest bytes together, 800 MB for 25.

    Examples
    --------
    >>> import dsprog as ds
    >>> from dsprog.generators import autocorrelation
    >>> result = ds.minimize(autocorrelation(30, 8), ds.BucketElimination())
    >>> result.value, result.certified
    (-2952.0, True)
    """

    widest: int = WIDEST

    presolved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        as_count(self.widest, "widest", most=FURTHEST)

    def needs(self) -> tuple[Need, ...]:
        """A small width, and no rows beside the function."""
        return NO_CONSTRAINTS, width_at_most(self.widest)

    def solve(self, problem: Problem, run: Run) -> Verdict:
        """A first set and bound, then one element after the other."""
        order = problem.derived(order_of)
        if order is None:
            raise ValueError(f"elements must have at most {self.widest} neighbours each in some order")
        ends = both_ends(problem.n)
        run.offer(ends, problem.objective.values(ends), "start")
        run.raise_bound(min(floor(problem), run.value))
        if order.states > LONG:
            trial = run.trial(0.05 * run.seconds_left if np.isfinite(run.seconds_left) else 2.0)
            LocalSearch().solve(problem, trial)
            run.offer(*trial.best_sets(), "local search")
        return Buckets(problem, order, run).verdict()


@dataclass(frozen=True)
class Message:
    """A table over the sets of its scope; bit b of the index stands for ``scope[b]``."""

    scope: tuple[int, ...]
    table: Floats


class Buckets:
    """The tables of one problem."""

    def __init__(self, problem: Problem, order: EliminationOrder, run: Run) -> None:
        self.problem, self.order, self.run = problem, order, run
        self.waiting: dict[int, list[Message]] = {}  # messages by the first of their scope to go
        self.choices: list[np.ndarray] = []  # bits of each element, in order
        self.total = problem.objective([])
        self.size = abs(self.total)  # of what was added up, for rounding

    def verdict(self) -> Verdict:
        """Eliminate all, then read the minimiser off on the way back."""
        run, count = self.run, len(self.order.order)
        for k, (j, scope) in enumerate(zip(self.order.order, self.order.scopes)):
            reason = self.eliminate(j, scope)
            if reason is not None:
                return Verdict(reason, "bucket elimination")
            run.progress(run.nodes + 1, count - k - 1, "elimination")
        mask = self.minimiser()[None]
        value = self.problem.objective.values(mask)
        run.offer(mask, value, "elimination")
        # sums of n gains each; a set found earlier may be as good
        rounding = max(run.tolerance, 8 * EPS * count * self.size)
        if abs(float(value[0]) - self.total) > rounding:
            return Verdict("finished", "bucket elimination", "rounding in the tables is larger than expected")
        exact = self.problem.objective.knows.integral and rounding < 0.5
        run.raise_bound(run.value if exact else min(run.value, self.total - 0.5 * run.tolerance))
        return Verdict("optimal", f"bucket elimination of width {self.order.width}")

    def eliminate(self, j: int, scope: tuple[int, ...]) -> str | None:
        """Minimise j out; why the run must stop, if it must."""
        messages = self.waiting.pop(j, [])
        bits = min(CHUNK, len(scope))
        length = 1 << bits
        places = [spread(scope[:bits], message.scope) for message in messages]
        table, chosen = np.empty(1 << len(scope)), np.empty(max(1, (1 << len(scope)) // 8), dtype=np.uint8)
        low, high, given = np.array(scope[:bits], dtype=np.int64), scope[bits:], np.zeros(self.problem.n, dtype=bool)
        largest = 0.0
        for part in range(1 << len(high)):
            reason = self.run.stop_reason()
            if reason is not None:
                return reason
            inside = [i for b, i in enumerate(high) if part >> b & 1]
            given[:] = False
            given[inside] = True
            zero, one = np.zeros(length), self.problem.objective.gain_table(j, low, given)
            largest = max(largest, float(np.abs(one).max()))
            for message, where in zip(messages, places):
                base = sum(1 << message.scope.index(i) for i in inside if i in message.scope)
                add_message_kernel(message.table, where, base, 1 << message.scope.index(j), zero, one)
            first = part * length
            choose_kernel(zero, one, table[first : first + length], chosen[first // 8 : max(1, (first + length) // 8)])
        self.size += largest
        self.choices.append(chosen)
        if scope:
            self.waiting.setdefault(scope[-1], []).append(Message(scope, table))
        else:
            self.total += float(table[0])
        return None

    def minimiser(self) -> Masks:
        """The last element first: each is chosen as its table says for those after it."""
        mask = np.zeros(self.problem.n, dtype=bool)
        for j, scope, chosen in zip(self.order.order[::-1], self.order.scopes[::-1], self.choices[::-1]):
            index = sum(1 << b for b, i in enumerate(scope) if mask[i])
            mask[j] = bool(chosen[index // 8] >> (index % 8) & 1)
        return mask


def spread(elements: tuple[int, ...], scope: tuple[int, ...]) -> Ints:
    """For every set of the elements its index among the sets of a scope, those outside it left out."""
    places = np.zeros(1, dtype=np.int64)
    for i in elements:
        places = np.concatenate([places, places + (1 << scope.index(i) if i in scope else 0)])
    return places
