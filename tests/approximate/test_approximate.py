"""Approximate solvers: what they claim is checked by enumeration, on tables of solvers and families."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.approximate.starts import frame_of, starting_sets
from dsprog.core.constraints import Constraint, LinearRows
from dsprog.core.problem import Problem
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES, concave_difference
from dsprog.run.run import Run
from dsprog.testing import check_result, check_solver
from tests.helpers.enumeration import flips, mask_of

SOLVERS = {
    "flip": ds.LocalSearch(restarts=3),
    "swap": ds.LocalSearch("swap", restarts=3),
    "tabu": ds.LocalSearch("tabu", restarts=3, steps=15),
    "forward": ds.Greedy(),
    "backward": ds.Greedy("backward"),
    "bidirectional": ds.Greedy("bidirectional", restarts=3),
    "mod-mod": ds.ModMod(restarts=3),
    "mod-mod grow": ds.ModMod("grow", restarts=3),
    "mod-mod shrink": ds.ModMod("shrink", restarts=3),
    "sup-sub": ds.SupSub(restarts=3),
    "ssp": ds.SSP(restarts=3),
    "ssp random": ds.SSP("random", restarts=2),
    "ssp best": ds.SSP("best", restarts=2, tries=2),
    "dca": ds.DCA(restarts=2),
    "dca complete": ds.DCA(complete=True, restarts=2),
    "dca sets": ds.DCA(rho=0, restarts=2),
}
VARIANTS = [name for name in SOLVERS if name.startswith(("ssp ", "dca ", "mod-mod "))]
LARGEST = {name: 4 if name.startswith(("ssp", "dca")) else 5 for name in SOLVERS}  # n of the kit
ADDITIONS, REMOVALS = {"forward"}, {"backward"}
CONSTRAINED = [name for name in SOLVERS if not name.startswith("dca")]


class Pairs(Constraint):
    """Not both ends of a pair (0, 1), (2, 3), ...: a constraint that only its own test knows."""

    def rows(self, n):
        pairs = np.arange(n) // 2 == np.arange(n // 2)[:, None]
        return LinearRows(pairs.astype(float), np.full(n // 2, -np.inf), np.ones(n // 2))


CONSTRAINTS = {
    "size": [ds.Cardinality(2, 4)],
    "exact size": [ds.Cardinality(3, 3)],
    "fixed": [ds.Include([1]), ds.Exclude([0, 5])],
    "all": [ds.Cardinality(2, 3), ds.Include([1]), ds.Exclude([0, 5])],
    "pairs": [Pairs()],
    "blocks": [ds.Partition([0, 0, 0, 1, 1, 1, 2, 2], [1, 2, 1]), ds.Exclude([7])],
    "weights": [ds.Knapsack([3, 1, 4, 1, 5, 9, 2, 6], 8)],
    "weights and size": [ds.Knapsack([3, 1, 4, 1, 5, 9, 2, 6], 9), ds.Cardinality(2, 3)],
    "cover": [ds.LinearConstraint([3, 1, 4, 1, 5, 9, 2, 6], lo=12, hi=20)],
}
FRAMES = ("size", "exact size", "fixed", "all")


def is_falling(trace):
    return all(later.value <= earlier.value for earlier, later in itertools.pairwise(trace))


@pytest.mark.parametrize("name", SOLVERS)
def test_kit(name):
    """Variants of a solver on smaller instances; :func:`test_kit_of_variants` has them on all."""
    check_solver(SOLVERS[name], largest=3 if name in VARIANTS else LARGEST[name], seeds=(1,))


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_kit_of_variants(name):
    check_solver(SOLVERS[name], largest=LARGEST[name], seeds=(1,))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", SOLVERS)
def test_result_is_the_local_optimum_it_says(name, family):
    objective = FAMILIES[family](8, 3)
    result = ds.minimize(objective, SOLVERS[name], seed=0)
    check_result(result, objective)
    assert result.status == "local"
    assert result.lower_bound == -np.inf
    assert not result.certified
    assert result.nodes > 0
    assert is_falling(result.trace)
    slack = 1e-8 * max(1.0, abs(result.value))
    additions, removals = flips(objective, result.S)
    if name not in REMOVALS:
        assert additions.min(initial=np.inf) >= result.value - slack
    if name not in ADDITIONS:
        assert removals.min(initial=np.inf) >= result.value - slack
    if name == "swap":
        masks = all_masks(8)
        mask = mask_of(result.S, 8)
        exchanged = masks[((masks ^ mask).sum(axis=1) == 2) & (masks.sum(axis=1) == mask.sum())]
        assert objective.values(exchanged).min(initial=np.inf) >= result.value - slack


@pytest.mark.parametrize("name", SOLVERS)
def test_values_never_rise_from_iteration_to_iteration(name, monkeypatch):
    """Every restart by itself: the values of the sets that a step proposes and the loop keeps only fall."""
    objective = FAMILIES["logdet"](12, 5)
    rows = []
    offer = Run.offer
    monkeypatch.setattr(Run, "offer", lambda self, m, v, s: rows.append(v.copy()) or offer(self, m, v, s))
    one = type(SOLVERS[name])(**{**vars(SOLVERS[name]), "restarts": 1})
    ds.minimize(objective, one, seed=4, initial=[1, 4, 6])
    values = np.concatenate(rows)
    assert len(values) >= 2
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < objective([1, 4, 6])


@pytest.mark.parametrize("case", CONSTRAINTS)
@pytest.mark.parametrize("name", CONSTRAINED)
def test_constraints_are_kept(name, case):
    constraints = CONSTRAINTS[case]
    for family in ("concave", "rank", "facility"):
        objective = FAMILIES[family](8, 2)
        problem = Problem(objective, tuple(constraints))
        initial = None if name != "backward" or case != "pairs" else [1, 2]
        result = ds.minimize(objective, SOLVERS[name], constraints=constraints, seed=0, initial=initial)
        check_result(result, objective, problem.feasible(all_masks(8)))
        assert problem.feasible(mask_of(result.S, 8)[None, :])[0]
        assert result.status == "local"
        assert is_falling(result.trace)
        slack = 1e-8 * max(1.0, abs(result.value))
        additions, removals = flips(objective, result.S, problem.feasible)
        assert name in REMOVALS or additions.min(initial=np.inf) >= result.value - slack
        assert name in ADDITIONS or removals.min(initial=np.inf) >= result.value - slack


@pytest.mark.parametrize("name", CONSTRAINED)
def test_infeasible(name):
    for constraints in (
        [ds.Include([0]), ds.Exclude([0])],
        [ds.Cardinality(5, 9)],
        [ds.Cardinality(4), ds.Exclude([1])],
    ):
        assert ds.minimize(concave_difference(4, 0), SOLVERS[name], constraints=constraints).status == "infeasible"


class Nothing(Constraint):
    def rows(self, n):
        return LinearRows(np.zeros((1, n)), np.ones(1), np.ones(1))


REFUSALS = {
    "dca": (
        lambda: ds.minimize(concave_difference(4, 0), ds.DCA(), constraints=[ds.Include([2])]),
        "DCA does not work with this problem: it needs a problem without constraints; use LocalSearch or the default",
    ),
    "no start": (
        lambda: ds.minimize(concave_difference(4, 0), ds.LocalSearch(), constraints=[Nothing()]),
        "no feasible set to start from was found: pass one as initial",
    ),
    "no start for greedy": (
        lambda: ds.minimize(concave_difference(4, 0), ds.Greedy(), constraints=[Nothing()]),
        "no feasible set was met on the way: pass one as initial",
    ),
    "restarts": (lambda: ds.SSP(restarts=0), "restarts must be at least 1, got 0"),
    "tries": (lambda: ds.SSP("best", tries=0), "tries must be at least 1, got 0"),
    "steps": (lambda: ds.LocalSearch("tabu", steps=0.5), "steps must be a whole number, got 0.5"),
    "moves": (lambda: ds.LocalSearch("jump"), "moves must be one of flip, swap, tabu, got 'jump'"),
    "direction": (lambda: ds.Greedy("up"), "direction must be one of forward, backward, bidirectional, got 'up'"),
    "order": (lambda: ds.SSP("sorted"), "order must be one of marginals, random, best, got 'sorted'"),
    "bounds": (lambda: ds.SupSub("all"), "bounds must be one of grow, shrink, both, got 'all'"),
    "rho": (lambda: ds.DCA(rho=-1), "rho must be at least 0, got -1"),
    "iterations": (lambda: ds.DCA(iterations=0), "iterations must be at least 1, got 0"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    action, sentence = REFUSALS[case]
    with pytest.raises((ValueError, TypeError)) as caught:
        action()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", SOLVERS)
def test_seeds_limits_and_messages(name):
    objective = FAMILIES["coverage"](12, 1)
    first, second = (ds.minimize(objective, SOLVERS[name], seed=7) for _ in range(2))
    assert (first.S, first.nodes, first.oracle_calls) == (second.S, second.nodes, second.oracle_calls)
    assert first.message.startswith("A local optimum, with no bound: ")
    assert first.message.endswith("; use the default solver for a proof.")
    assert "improve" in first.message
    for limits, status in (({"time_limit": 0.0}, "time_limit"), ({"node_limit": 1}, "node_limit")):
        stopped = ds.minimize(objective, SOLVERS[name], seed=7, initial=[3], **limits)
        assert stopped.status == status
        assert stopped.value <= objective([3])
    assert ds.minimize(objective, SOLVERS[name], seed=7, callback=lambda event: True).status == "callback"


@pytest.mark.parametrize("name", SOLVERS)
def test_interruption_keeps_the_best_set(name):
    def interrupt(event):
        raise KeyboardInterrupt

    objective = FAMILIES["coverage"](12, 1)
    result = ds.minimize(objective, SOLVERS[name], seed=7, callback=interrupt)
    assert result.status == "interrupted"
    assert result.value == pytest.approx(objective(result.S))


@pytest.mark.parametrize("name", SOLVERS)
def test_an_initial_set_is_never_lost(name):
    objective = FAMILIES["facility"](10, 4)
    best = ds.minimize(objective)
    assert ds.minimize(objective, SOLVERS[name], initial=best.S, seed=0).value <= best.value + 1e-9


@pytest.mark.parametrize("name", SOLVERS)
def test_unknown_structure_runs_and_is_said(name):
    def bent(S):
        return len(S) ** 0.5 - 0.4 * (0 in S) - 0.9 * (3 in S)

    objective = ds.FromCallable(bent, 6) - ds.CardinalityConcave(6, "log1p")
    result = ds.minimize(objective, SOLVERS[name], seed=0)
    check_result(result, objective)
    assert "not both known to be submodular" in result.message
    known = ds.minimize(ds.FromCallable(bent, 6, submodular=True) - ds.CardinalityConcave(6, "log1p"), SOLVERS[name])
    assert "known to be submodular" not in known.message


@pytest.mark.parametrize("name", ["flip", "swap", "mod-mod", "mod-mod grow", "sup-sub", "ssp"])
def test_a_batch_of_restarts_is_as_good_as_separate_runs(name):
    for family in ("coverage", "logdet", "pairwise"):
        objective = FAMILIES[family](11, 2)
        problem = Problem(objective)
        many = type(SOLVERS[name])(**{**vars(SOLVERS[name]), "restarts": 6})
        one = type(many)(**{**vars(many), "restarts": 1})
        starts = starting_sets(problem, Run(problem, seed=5), 6)
        alone = [ds.minimize(objective, one, initial=np.flatnonzero(start)).value for start in starts]
        assert ds.minimize(objective, many, seed=5).value == pytest.approx(min(alone), abs=1e-9)


@pytest.mark.parametrize("case", FRAMES)
def test_least_modular_set_of_a_frame(case):
    problem = Problem(concave_difference(7, 0), tuple(CONSTRAINTS[case]))
    masks = all_masks(7)
    feasible = masks[problem.feasible(masks)]
    weights = np.random.default_rng(0).normal(size=(40, 7)).round(1)
    least = frame_of(problem).least(weights)
    assert problem.feasible(least).all()
    assert (least * weights).sum(axis=1) == pytest.approx((feasible @ weights.T).min(axis=0))
