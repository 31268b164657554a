"""Presolve: the smaller problem has the same optimum, and the result is one of the whole."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES, discrete_data, incidence, random_graph
from dsprog.presolve.chain import STEPS, presolve
from dsprog.presolve.components import connected
from dsprog.presolve.domination import dominated
from dsprog.presolve.step import Wishes
from dsprog.testing import check_result

SOLVERS = [ds.BranchAndBound(), ds.CompactModel()]


def block_diagonal(*blocks):
    import scipy.linalg

    return scipy.linalg.block_diag(*blocks)


def separable(seed, sizes=(4, 3, 5)):
    """Three components, each a difference of cut and coverage with costs."""
    rng = np.random.default_rng(seed)
    f = ds.Coverage(block_diagonal(*(incidence(rng, 2 * n, n, 3.0) for n in sizes)))
    g = ds.Cut(block_diagonal(*(random_graph(rng, n, 1.0) for n in sizes)))
    return f + ds.Modular(0.3 * rng.normal(size=sum(sizes))) - g


def with_copies(seed):
    """Columns of data twice, renamed and at another price, and constant ones."""
    rng = np.random.default_rng(seed)
    X, y = discrete_data(rng, 40, 4)
    X = np.column_stack([X, (X + 1) % 3, np.zeros((40, 2), dtype=int)])
    return ds.ConditionalEntropy(X, y) + ds.Modular(0.02 * rng.random(10)) - ds.Entropy(X)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("build", [separable, with_copies])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_stays(solver, build, seed):
    objective = build(seed)
    assert presolve(as_problem(objective, ()), Wishes()).worthwhile
    result = ds.minimize(objective, solver, seed=0)
    check_result(result, objective)
    assert result.certified
    assert "elements left" in result.proof


@pytest.mark.parametrize("family", FAMILIES)
def test_presolve_keeps_an_optimum(family):
    for n in (1, 4, 7):
        for seed in range(3):
            check_presolved(as_problem(FAMILIES[family](n, seed), ()))


def test_components_are_found():
    parts = connected(as_problem(separable(0), ()))
    assert all(len({np.searchsorted([4, 7, 12], j, side="right") for j in part}) == 1 for part in parts)
    assert len(parts) >= 3


def dominated_elements(objective):
    return dominated(as_problem(objective, ())).tolist()


def test_duplicates_keep_the_cheapest():
    members = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]])
    assert dominated_elements(ds.Modular([0.3, 0.1, 0.2, 0.5]) - ds.Coverage(members)) == [True, False, True, False]
    assert not any(dominated_elements(ds.Modular([-0.3, -0.3, 0.2, 0.5]) - ds.Coverage(members))[:2])


def test_dominated_elements_are_found():
    members = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]])  # 0 covers all that 1 does
    rewarded, charged = (
        ds.Modular([0.1, 0.2, 0.3]) - ds.Coverage(members),
        ds.Coverage(members) + ds.Modular(np.ones(3)),
    )
    assert dominated_elements(rewarded) == [False, True, False]
    assert dominated_elements(ds.Modular([0.2, 0.1, 0.3]) - ds.Coverage(members)) == [False, False, False]
    assert dominated_elements(charged - ds.Coverage(np.ones((1, 3)))) == [True, False, False]
    X = np.array([[0, 0, 1], [1, 0, 1], [2, 1, 0], [2, 1, 1]])  # column 1 can be told from column 0
    told = ds.Modular([0.01, 0.01, 0.01]) - ds.MutualInformation(X, [0, 1, 0, 1])
    assert dominated_elements(told) == [False, True, False]


def nested(seed):
    """Coverage with elements that cover parts of what others do, at random prices."""
    rng = np.random.default_rng(seed)
    members = incidence(rng, 12, 9, 3.0) > 0
    members[:, 5] &= members[:, 2]
    members[:, 6] &= members[:, 3] & (rng.random(12) < 0.7)
    f = ds.ConcaveOfModular((rng.random((2, 9)) < 0.5) * rng.random((2, 1)), 0.3 * np.ones(2))
    return f + ds.Modular(0.4 * rng.random(9)) - ds.Coverage(members, rng.random(12))


CONSTRAINTS = {
    "none": lambda n: [],
    "at most": lambda n: [ds.Cardinality(max=n // 3)],
    "at least": lambda n: [ds.Cardinality(min=n // 2)],
    "between": lambda n: [ds.Cardinality(1, n // 2)],
    "knapsack": lambda n: [ds.Knapsack(1.0 + np.arange(n) % 3, 0.8 * n)],
    "in and out": lambda n: [ds.Include([0]), ds.Exclude([n - 1])],
    "blocks": lambda n: [ds.Partition(np.arange(n) * 3 // n, [1, 2, 1])],
    "mixed signs": lambda n: [ds.LinearConstraint(np.where(np.arange(n) % 2, 1.0, -1.0), -1.0, 1.0)],
    "first half": lambda n: [ds.LinearConstraint((np.arange(n) < n // 2).astype(float), 1.0, 2.0)],
    "none feasible": lambda n: [ds.Include([0]), ds.Exclude([0])],
}


def best_of(problem):
    """The least value over the feasible sets and a set that has it, by enumeration; infinity where there is none."""
    masks = all_masks(problem.n)
    values = np.where(problem.feasible(masks), problem.objective.values(masks), np.inf)
    return values.min(), masks[int(values.argmin())]


def check_reduced(problem, reduced):
    """The parts of a step, or of all, have the optimum of the whole together, and lifting is the way back."""
    optimum = best_of(problem)[0]
    best = [best_of(part) for part in reduced.parts]
    total = reduced.offset + sum(value for value, _ in best)
    assert total == optimum or total == pytest.approx(optimum, abs=1e-9)
    if np.isfinite(total):
        lifted = reduced.lift([mask for _, mask in best])
        assert problem.feasible(lifted[None])[0]
        assert problem.objective(lifted) == pytest.approx(total, abs=1e-9)
        assert reduced.lower <= optimum + 1e-9
        for mask, (_, part) in zip(reduced.project(lifted), best):
            np.testing.assert_array_equal(mask, part)


def check_presolved(problem):
    """Every step by itself, and all of them."""
    for step in STEPS:
        if step.accepts(problem, Wishes()):
            reduced = step.apply(problem)
            if reduced is not None:
                check_reduced(problem, reduced)
    check_reduced(problem, presolve(problem, Wishes()))


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("build", [separable, nested, with_copies, *FAMILIES.values()])
def test_presolve_keeps_an_optimum_under_constraints(build, name):
    for seed in range(4):
        objective = build(7, seed) if build in FAMILIES.values() else build(seed)
        check_presolved(as_problem(objective, CONSTRAINTS[name](objective.n)))


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("build", [separable, nested])
@pytest.mark.parametrize("solver", [*SOLVERS, ds.BruteForce()], ids=lambda s: type(s).__name__)
def test_the_optimum_stays_under_constraints(solver, build, name):
    objective = build(1)
    constraints = CONSTRAINTS[name](objective.n)
    feasible = as_problem(objective, constraints).feasible(all_masks(objective.n))
    result = ds.minimize(objective, solver, constraints=constraints, seed=0, reduce=True)
    if not feasible.any():
        assert result.status == "infeasible"
        return
    check_result(result, objective, feasible)
    assert result.certified


@pytest.mark.parametrize("solver", [ds.Prismatic(subdivision="optimum"), ds.BruteForce(), ds.Scip()])
def test_every_exact_solver_may_be_given_parts(solver):
    if isinstance(solver, ds.Scip):
        pytest.importorskip("pyscipopt")
    objective = separable(0, (3, 2, 3))
    result = ds.minimize(objective, solver, reduce=True)
    check_result(result, objective)
    assert result.certified
    assert "elements left" in result.proof
    assert "not asked for" in ds.minimize(objective, solver, node_limit=300).presolve


def test_reduce_works_for_everybody(tmp_path):
    """Also with checkpoints, K best and approximate solvers, or the result says why not."""
    objective, path = separable(1, (6, 5, 6)), tmp_path / "run.npz"
    whole = ds.minimize(objective, reduce=True)
    assert "elements left" in whole.presolve
    for limit in (2, 4, 8, 16, 10**9):
        part = ds.minimize(objective, ds.BranchAndBound(starts=0), reduce=True, checkpoint=path, node_limit=limit)
        assert part.lower_bound <= whole.value + 1e-9 <= part.value + 2e-9
    assert part.certified
    assert part.value == pytest.approx(whole.value)
    assert ds.minimize(objective, ds.SSP(), reduce=True, seed=0).value >= whole.value - 1e-9
    energy = FAMILIES["pairwise"](12, 0)
    assert ds.minimize(energy, reduce=True).value == pytest.approx(ds.minimize(energy, ds.BruteForce()).value)
    best = ds.enumerate_best(objective, 3, reduce=True, constraints=[ds.Include([0]), ds.Exclude([1, 2])])
    assert "keeps one optimum" in best.presolve
    assert "decided by constraints" in best.presolve
    assert [set(S) >= {0} for S in best.sets] == [True] * 3
    assert "not asked for" in ds.minimize(objective, ds.BranchAndBound(), reduce=False).presolve


def test_limits_on_parts_are_honest():
    objective = separable(1, (9, 8, 9))
    optimum = ds.minimize(objective).value
    for limits in ({"node_limit": 1}, {"time_limit": 0.0}):
        result = ds.minimize(objective, ds.BranchAndBound(starts=0), **limits)
        assert np.isfinite(result.lower_bound)
        assert result.lower_bound <= optimum <= result.value + 1e-9
    assert ds.minimize(objective, gap=0.1).certified


def test_unknown_functions_are_left_alone():
    unknown = ds.FromCallable(lambda S: float(len(S)), 4) - ds.Modular(np.ones(4))
    assert not presolve(as_problem(unknown, ()), Wishes()).worthwhile


def test_the_log_says_what_was_reduced(capsys):
    ds.minimize(separable(0), verbose=1)
    assert "elements left" in capsys.readouterr().err
