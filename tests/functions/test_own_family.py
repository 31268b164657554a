"""A family written here, in one place, is saved, compared, separated, reduced, restricted and solved like ours."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.column_model import Expression
from dsprog.core.constraints import Constraint, LinearRows
from dsprog.core.kernel import Kernel
from dsprog.core.problem import as_problem
from dsprog.core.views import Restriction
from dsprog.presolve.components import connected
from dsprog.presolve.domination import dominations
from dsprog.testing import check_result, check_set_function
from tests.helpers.families import NAMES, build


class GroupBudgets(ds.SetFunction):
    """f(S) = Σ_k min(caps_k, w(S ∩ group k)); ``labels[j]`` is the group of element j."""

    has_columns = True

    def __init__(self, weights, labels, caps):
        self.weights, self.labels, self.caps = (np.asarray(array) for array in (weights, labels, caps))
        self.n = len(self.weights)
        self.knows = ds.Knowledge(submodular=True, increasing=True)

    def _values(self, masks):
        return sum((np.minimum(c, masks[:, g] @ self.weights[g]) for g, c in self._budgets()), np.zeros(len(masks)))

    def _budgets(self):
        return zip(self.groups(), self.caps)

    def groups(self):
        return [np.flatnonzero(self.labels == k) for k in range(len(self.caps))]

    def columns(self, model, elements, weight):
        """Rewarded, u_k <= caps_k and u_k <= w·x; paid for, a curve of w·x."""
        total = Expression()
        for group, cap in self._budgets():
            spent = Expression(elements[group], self.weights[group].astype(float))
            if weight > 0:
                phi = ds.functions._scalar.Named("truncate", cap)
                part = model.curve(phi, spent, 0.0, float(self.weights[group].sum()), integral=False)
            else:
                part = Expression(model.columns(1, 0.0, cap), np.ones(1))
                model.at_least(spent.plus(part.scaled(-1.0)))
            total = total.plus(part)
        return total


class AtLeastOne(Constraint):
    """S meets the given elements."""

    def __init__(self, elements):
        self.elements = tuple(elements)

    def rows(self, n):
        row = np.zeros((1, n))
        row[0, list(self.elements)] = 1.0
        return LinearRows(row, np.ones(1), np.full(1, np.inf))


def budgets(seed=0, n=12, groups=3):
    rng = np.random.default_rng(seed)
    return GroupBudgets(rng.integers(1, 9, n), np.arange(n) % groups, rng.integers(5, 15, groups))


def rewards(seed=0, n=12):
    return ds.Modular(np.random.default_rng(seed + 100).integers(1, 6, n) * 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_kit_accepts_it(seed):
    check_set_function(budgets(seed))
    for f in (
        budgets(seed).restrict([1], range(8)),
        budgets(seed).complement(),
        budgets(seed).relabel(range(12)[::-1]),
    ):
        check_set_function(f)


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_it_is_saved_read_back_and_equal(suffix, tmp_path):
    f, path = budgets(), tmp_path / f"own.{suffix}"
    f.save(path)
    assert ds.read(path) == f == ds.load(path)
    assert hash(ds.read(path)) == hash(f)
    assert f != budgets(1)
    assert (f - budgets()).terms == ()
    (f - rewards()).save(path, [AtLeastOne([0, 3])])
    again = ds.read(path)
    assert isinstance(again, ds.Problem)
    assert again == as_problem(f - rewards(), [AtLeastOne([0, 3])])


@pytest.mark.parametrize("view", [lambda f: f, lambda f: f.complement(), lambda f: f.restrict([1], range(9))])
def test_it_falls_into_components(view):
    objective = ds.Difference(view(budgets()), view(rewards()))
    parts = connected(as_problem(objective, ()))
    assert len(parts) == 3
    assert {objective.n // 3, len(parts[0])} == {len(part) for part in parts}


def test_groups_of_a_relabelled_function_are_relabelled():
    order = np.random.default_rng(0).permutation(12)
    seen = budgets().relabel(order).groups()
    assert [set(order[group]) for group in seen] == [set(group) for group in budgets().groups()]


@pytest.mark.parametrize("solver", [None, ds.BranchAndBound(), ds.CompactModel()])
def test_it_is_solved(solver):
    for seed in range(3):
        for objective in (budgets(seed) - rewards(seed), rewards(seed) - budgets(seed)):
            result = ds.minimize(objective, solver, seed=0)
            check_result(result, objective)
            assert result.certified
            restricted = objective.restrict([2], range(10))
            check_result(ds.minimize(restricted, solver, seed=0), restricted)


def test_wrong_groups_and_columns_are_caught():
    class Apart(GroupBudgets):
        def groups(self):
            return [np.array([j]) for j in range(self.n)]

        def _budgets(self):
            return zip(GroupBudgets.groups(self), self.caps)

    class TooHigh(GroupBudgets):
        def columns(self, model, elements, weight):
            return Expression(constant=weight * 1e3)

    f = budgets()
    for wrong, sentence in ((Apart, "no group joins"), (TooHigh, "expression must bound f")):
        with pytest.raises(AssertionError, match=sentence):
            check_set_function(wrong(f.weights, f.labels, f.caps))


# -- saving ---------------------------------------------------------------------------------------------------------


def test_two_families_of_one_name_are_both_saved(tmp_path):
    def another():
        class Twice(GroupBudgets):
            pass

        return Twice

    def yet_another():
        class Twice(GroupBudgets):
            pass

        return Twice

    f, path = budgets(), tmp_path / "f.json"
    first = another()(f.weights, f.labels, f.caps)
    first.save(path)
    assert ds.load(path) == first
    second = yet_another()(f.weights, f.labels, f.caps)
    second.save(tmp_path / "second.json")
    assert ds.load(path) == first
    assert type(ds.load(tmp_path / "second.json")) is type(second)


def test_what_cannot_be_saved_says_why(tmp_path):
    class Bare(ds.SetFunction):
        def __init__(self, w):
            self.n, self.knows = 3, ds.Knowledge()

        def _values(self, masks):
            return masks.sum(axis=1) * 1.0

    for f, sentence in (
        (ds.FromCallable(len, 3), "fn of FromCallable cannot be saved: it is a Python callable"),
        (ds.ConcaveOfModular(np.eye(3), concave=np.tanh), "concave of ConcaveOfModular cannot be saved"),
        (Bare(1), "Bare cannot be saved: it must store its arguments under their names"),
    ):
        with pytest.raises(TypeError, match=sentence):
            f.save(tmp_path / "f.json")


def test_constraints_survive_reading_and_join_others(tmp_path):
    objective, path = budgets() - rewards(), tmp_path / "p.npz"
    ds.Problem(objective, (ds.Include([5]),)).save(path)
    result = ds.minimize(ds.read(path), constraints=[ds.Cardinality(max=2)])
    assert result.S == ds.minimize(objective, constraints=[ds.Include([5]), ds.Cardinality(max=2)]).S
    assert 5 in result.S
    assert all(5 in S for S in ds.enumerate_best(ds.read(path), 4).sets)
    with pytest.raises(ValueError, match="one entry for each of 12 elements"):
        as_problem(objective, ds.Knapsack([1.0], 1.0))
    with pytest.raises(ValueError, match="one entry for each of 12 elements"):
        objective.save(path, [ds.Knapsack([1.0], 1.0)])


# -- what our families say ------------------------------------------------------------------------------------------


def test_functions_and_constraints_are_equal_by_content():
    assert ds.Modular([1.0]) == ds.Modular([1.0]) != ds.Modular([2.0])
    assert ds.Modular([1.0]) != 1.0
    assert len({ds.Modular([1.0]), ds.Modular([1.0]), ds.CardinalityConcave(1)}) == 2
    assert ds.Knapsack([1.0, 2.0], 2.0) == ds.Knapsack([1, 2], 2)
    assert len({ds.Knapsack([1.0, 2.0], 2.0), ds.Knapsack([1, 2], 2), ds.Partition([0, 0], [1])}) == 2


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("dependent", [False, True])
def test_restricted_least_squares_is_least_squares(ridge, dependent):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(9, 8)), rng.normal(size=9)
    if dependent:
        X = X[:, [0, 1, 2, 0, 1, 5, 2, 2]]
    f = ds.LeastSquares(X, y, ridge)
    for include, free in (([], [1, 2, 5]), ([0, 4], [1, 3, 5, 6]), ([0, 3, 4], [1, 2, 7]), (list(range(7)), [7])):
        include, free = (np.array(elements, dtype=int) for elements in (include, free))
        restricted, view = f._restrict(include, free), Restriction(f, include, free)
        assert isinstance(restricted, ds.LeastSquares)
        assert restricted.ridge == ridge
        masks = ds.functions.table.all_masks(len(free))
        np.testing.assert_allclose(restricted.values(masks), view.values(masks), atol=1e-12)
        np.testing.assert_allclose(restricted.marginals(masks), view.marginals(masks), atol=1e-12)


@pytest.mark.parametrize("f", [ds.Cut([[0, 1, 2], [1, 0, 3], [2, 3, 0]]), ds.Pairwise(np.arange(9.0).reshape(3, 3))])
def test_restricted_pairs_are_pairs(f):
    restricted = f.restrict([1])
    assert isinstance(restricted, ds.Pairwise)
    assert [restricted(S) for S in ([], [0], [1], [0, 1])] == [f(S) for S in ([1], [0, 1], [1, 2], [0, 1, 2])]


def test_quadratic_values_count_as_oracle_calls():
    form = ds.Pairwise(np.ones((4, 4))).quadratic_form()
    with ds.count_oracle_calls() as tally:
        form.values(ds.functions.table.all_masks(4))
    assert tally.calls == 16


def test_spans_survive_views():
    X, y = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]], [0, 1, 1, 0]
    f = ds.MutualInformation(X, y)
    twins = np.array([[False, True, False], [True, False, False], [False, False, False]])
    assert (f.spans() == twins).all()
    assert (f.relabel([2, 1, 0]).spans() == twins[::-1, ::-1]).all()
    assert (f.restrict(within=[0, 1]).spans() == twins[:2, :2]).all()
    assert dominations(ds.Difference(0.01 * ds.CardinalityConcave(3, "sqrt"), f).terms, 3) is not None


def test_construction_computes_nothing(monkeypatch):
    """Kernels are compiled, and data packed, when a value is asked for."""

    def refuse(self, *args):
        raise AssertionError(f"{self.function.__qualname__} was called")

    monkeypatch.setattr(Kernel, "__call__", refuse)
    for name in NAMES:
        if not name.startswith("concave-of"):  # which must look at f(∅), since it has to be non-negative
            build(name, 4)
