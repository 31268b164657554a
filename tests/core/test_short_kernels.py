"""Kernels that are interpreted while they have little to do, records by address, and borrowed arrays."""

import copy
import sys
from typing import NamedTuple

import numpy as np
import pytest

import dsprog as ds
from dsprog import generators
from dsprog.applications import SubmodularFeatureSelector, TANClassifier
from dsprog.core import kernel as kernels
from dsprog.core.kernel import Kernel, kernel, part, part_for, short_kernel
from dsprog.exact.budget.client_kernels import least_gains_kernel
from dsprog.exact.budget.tasks import budget_kernel


def one_size(family, n, k, **options):
    return ds.minimize(generators.FAMILIES[family](n, 1), constraints=[ds.Cardinality(exactly=k)], **options)


def knapsack():
    rng = np.random.default_rng(2)
    return ds.minimize(
        generators.concave_difference(14, 3),
        ds.BudgetBranchAndBound(),
        constraints=[ds.Knapsack(rng.integers(1, 9, 14), 12)],
    )


def blocks():
    rows = [ds.Partition(np.arange(12) % 4, [1, 1, 2, 1])]
    return ds.maximize(generators.facility_rewards(12, 1), ds.BudgetBranchAndBound(), constraints=rows)


def regression():
    X, y, _, _ = generators.sparse_linear_model(np.random.default_rng(0), 40, 12, 4)
    SubmodularFeatureSelector(lam=0.03).fit(X, y)


def classifier():
    TANClassifier().fit(*generators.discrete_data(np.random.default_rng(0), 60, 6))


RUNS = {
    "budget, concave": lambda: one_size("concave", 16, 5, solver=ds.BudgetBranchAndBound()),
    "budget, coverage": lambda: one_size("coverage", 18, 5, solver=ds.BudgetBranchAndBound()),
    "budget, list": lambda: ds.enumerate_best(
        generators.concave_difference(14, 2), 4, solver=ds.BudgetBranchAndBound(), constraints=[ds.Cardinality(max=4)]
    ),
    "knapsack": knapsack,
    "blocks": blocks,
    "influence": lambda: ds.maximize(
        generators.influence_rewards(20, 1), ds.BudgetBranchAndBound(), constraints=[ds.Cardinality(max=4)]
    ),
    "concave": lambda: ds.minimize(generators.concave_difference(14, 1), ds.BranchAndBound()),
    "quadratic": lambda: ds.minimize(generators.pairwise_energy(26, 1), ds.QuadraticBranchAndBound(trial=0)),
    "regression": regression,
    "classifier": classifier,
}


BUDGETS = {name: run for name, run in RUNS.items() if name.startswith(("budget", "knapsack", "blocks", "infl"))}


def mixed(objective, row):
    return ds.maximize(objective, ds.BudgetBranchAndBound(), constraints=[row])


MIXED = {
    "maxima and curves": lambda: mixed(
        generators.facility_rewards(10, 1) + 3.0 * ds.CardinalityConcave(10, "sqrt"), ds.Cardinality(max=4)
    ),
    "influence against costs": lambda: mixed(
        generators.influence_rewards(12, 1) - 0.5 * generators.coverage_rewards(12, 1), ds.Cardinality(exactly=4)
    ),
    "knapsack of influence": lambda: mixed(
        generators.influence_rewards(14, 1), ds.Knapsack(np.arange(14) % 4 + 1.0, 7.0)
    ),
}


@part_for("threes", lambda x: 0)
def three_more(x):
    return x // x * 3


@kernel
def asks_for_three(x):
    return x + three_more(x)


WINDING = {"budget_kernel", "descents"}  # so many steps that the last digits of the first decide the next


@pytest.mark.parametrize("name", BUDGETS)
def test_an_interpreted_search_finds_what_a_compiled_one_finds(name, monkeypatch):
    found, used = [], []

    def anew(omitted):
        used.append(budget_kernel._without(omitted))
        used[-1].__dict__["is_on_disk"] = False
        return used[-1]

    monkeypatch.setattr(budget_kernel, "without", anew)
    for steps in (10**9, -1):
        monkeypatch.setattr(kernels, "MOST_STEPS", steps)
        monkeypatch.setattr(least_gains_kernel, "is_ready", False)
        monkeypatch.setitem(least_gains_kernel.__dict__, "is_on_disk", False)
        used.clear()
        result = RUNS[name]()
        assert [known.is_ready for known in used] == [steps < 0] * len(used)
        found.append(result.values if hasattr(result, "values") else [result.value])
        assert result.status == "optimal"
    assert found[0] == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize("name", [*BUDGETS, "maxima and curves", "influence against costs", "knapsack of influence"])
def test_a_search_without_what_it_has_nothing_for_walks_the_same_tree(name, monkeypatch):
    """Bit for bit, also where families are mixed."""
    monkeypatch.setattr(kernels, "MOST_STEPS", 10**9)
    for known in (budget_kernel, least_gains_kernel):
        monkeypatch.setattr(known, "is_ready", False)
        monkeypatch.setitem(known.__dict__, "is_on_disk", False)
    found = []
    for without in (lambda omitted: budget_kernel, budget_kernel._without):

        def anew(omitted, without=without):
            chosen = without(omitted)
            chosen.__dict__["is_on_disk"] = False
            return chosen

        monkeypatch.setattr(budget_kernel, "without", anew)
        found.append(BUDGETS[name]() if name in BUDGETS else MIXED[name]())
    assert found[0].nodes == found[1].nodes > 0
    assert found[0].lower_bound == found[1].lower_bound


def test_a_part_that_is_omitted_is_not_called_and_the_rest_is_shared():
    full, small = asks_for_three.without(frozenset()), asks_for_three.without(frozenset({"threes"}))
    assert full is asks_for_three
    assert (full(2), small(2)) == (5, 2)
    assert asks_for_three.without(frozenset({"threes"})) is small
    assert asks_for_three.without(frozenset({"fours"})) is full
    assert small.digest != full.digest
    assert small.interpreted(2) == 2


@pytest.mark.parametrize("name", RUNS)
def test_interpreted_kernels_do_what_compiled_ones_do(name, monkeypatch):
    met = set()

    def both(self, *args):
        if self.steps is None or self.__name__ in WINDING or self.steps(*args) > kernels.MOST_STEPS:
            return self.compiled_once(*args)
        met.add(self.__name__)
        again = copy.deepcopy(args)
        with np.errstate(all="ignore"):
            expected = self.interpreted(*again)
        found = self.compiled_once(*args)
        same(found, expected)
        for ours, theirs in zip(args, again):
            lower = self.__name__ == "newton_kernel" and np.ndim(ours) == 2  # the other triangle is not filled in
            same(np.tril(ours) if lower else ours, np.tril(theirs) if lower else theirs)
        return found

    original = Kernel.__call__

    def compiled_once(self, *args):
        self.interpreted_steps = kernels.MOST_STEPS + 1
        return original(self, *args)

    monkeypatch.setattr(Kernel, "compiled_once", compiled_once, raising=False)
    monkeypatch.setattr(Kernel, "__call__", both)
    RUNS[name]()
    assert met


def same(found, expected):
    if isinstance(found, tuple):
        for ours, theirs in zip(found, expected):
            same(ours, theirs)
    elif isinstance(found, np.ndarray):
        ends = np.isfinite(found) | np.isinf(expected)
        assert np.allclose(found[ends], expected[ends], rtol=1e-7, atol=1e-7, equal_nan=True)
    elif found is not None:
        assert np.isclose(found, expected, rtol=1e-7, atol=1e-7, equal_nan=True)


def test_much_to_do_is_compiled(monkeypatch):
    monkeypatch.setattr(kernels, "MOST_STEPS", 10)
    calls = []

    @short_kernel(len)
    def total(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i]
        return s

    total.is_on_disk = False
    total.stand_in = lambda x: calls.append(len(x)) or x.sum()
    assert total(np.ones(6)) == 6.0
    assert not total.is_ready
    assert total(np.ones(6)) == 6.0  # twelve steps in all
    assert total.is_ready
    assert calls == [6]


class Inner(NamedTuple):
    a: np.ndarray
    scale: float


class Outer(NamedTuple):
    inner: Inner
    b: np.ndarray


@part
def dot(inner, x):
    total = 0.0
    for i in range(len(x)):
        total += inner.a[i] * x[i]
    return total * inner.scale


@kernel
def borrow(outer, rows, k):
    """Makes no array; takes a view."""
    row = rows[k]
    row[0] = 7.0
    return dot(outer.inner, outer.b) + row[0]


@kernel
def make(outer, k):
    """Makes arrays, and returns one."""
    out = np.empty(k)
    for i in range(k):
        out[i] = outer.b[i]
    return out


@kernel
def view(outer):
    """Returns what it was given."""
    return outer.b[1:]


def test_records_are_handed_on_and_nothing_is_lost():
    a, b, rows = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), np.zeros((2, 3))
    outer = Outer(Inner(a, 0.5), b)
    assert borrow(outer, rows, 1) == 0.5 * 32.0 + 7.0
    assert rows[1, 0] == 7.0
    for _ in range(3):
        before = [sys.getrefcount(x) for x in (a, b, rows)]
        for _ in range(20):
            borrow(outer, rows, 0)
            made, seen = make(outer, 2), view(outer)
        assert made.tolist() == [4.0, 5.0]
        assert seen.tolist() == [5.0, 6.0]
        del made, seen
        assert [sys.getrefcount(x) for x in (a, b, rows)] == before
    kept = view(Outer(Inner(a, 1.0), b.copy()))  # of an array that nobody else holds
    assert kept.tolist() == [5.0, 6.0]


def test_a_field_of_the_wrong_kind_is_an_error():
    with pytest.raises(Exception, match=r"(?i)cannot|failed|type"):
        borrow(Outer(Inner(np.zeros(3), "a"), np.zeros(3)), np.zeros((2, 3)), 0)
