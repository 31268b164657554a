"""Approximate solvers: what they claim is checked by enumeration, on tables of solvers and families."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.approximate.dca import Extension
from dsprog.approximate.local_search import best_exchange, descend
from dsprog.approximate.majorants import UpperBounds, lower_weights, orders_through
from dsprog.approximate.starts import frame_of, starting_sets
from dsprog.core.constraints import Constraint, LinearRows
from dsprog.core.problem import Problem
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES, concave_difference
from dsprog.run.run import Run
from dsprog.testing import check_result, check_solver

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
ADDITIONS, REMOVALS = {"forward"}, {"backward"}
CONSTRAINED = [name for name in SOLVERS if not name.startswith(("ssp", "dca"))]
STRUCTURED = [name for name in FAMILIES if name != "table"]


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
}


def flips(objective, S, feasible=None):
    """Values of all (feasible) sets that differ from S in one element, by whether it is added."""
    mask = np.isin(np.arange(objective.n), S)
    neighbours = mask ^ np.eye(objective.n, dtype=bool)
    keep = np.ones(objective.n, dtype=bool) if feasible is None else feasible(neighbours)
    values = np.where(keep, objective.values(neighbours), np.inf)
    return values[~mask], values[mask]


def is_falling(trace):
    return all(later.value <= earlier.value for earlier, later in itertools.pairwise(trace))


@pytest.mark.parametrize("name", SOLVERS)
def test_kit(name):
    largest = 4 if name.startswith(("ssp", "dca")) else 5
    check_solver(SOLVERS[name], largest=largest, seeds=(1,))


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
        mask = np.isin(np.arange(8), result.S)
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


@pytest.mark.parametrize(
    ("name", "case"),
    [(n, c) for n in CONSTRAINED for c in CONSTRAINTS if not (c == "pairs" and n.startswith("mod-mod"))],
)
def test_constraints_are_kept(name, case):
    constraints = CONSTRAINTS[case]
    for family in ("concave", "rank", "facility"):
        objective = FAMILIES[family](8, 2)
        problem = Problem(objective, tuple(constraints))
        initial = None if name != "backward" or case != "pairs" else [1, 2]
        result = ds.minimize(objective, SOLVERS[name], constraints=constraints, seed=0, initial=initial)
        check_result(result, objective, problem.feasible(all_masks(8)))
        assert problem.feasible(np.isin(np.arange(8), result.S)[None, :])[0]
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
    "ssp": (
        lambda: ds.minimize(concave_difference(4, 0), ds.SSP(), constraints=[ds.Cardinality(max=2)]),
        "SSP does not take constraints: its inner problem is unconstrained submodular minimisation; use LocalSearch",
    ),
    "dca": (
        lambda: ds.minimize(concave_difference(4, 0), ds.DCA(), constraints=[ds.Include([2])]),
        "DCA does not take constraints: its inner problem is unconstrained submodular minimisation",
    ),
    "mod-mod": (
        lambda: ds.minimize(concave_difference(4, 0), ds.ModMod(), constraints=[Pairs(), ds.Include([2])]),
        "ModMod takes Cardinality, Include and Exclude only, got Pairs: its inner problem is solved by sorting",
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


def test_descend_is_the_descent_of_each_row():
    objective = FAMILIES["concave"](15, 0)
    problem = Problem(objective, (ds.Cardinality(3, 9),))
    starts = starting_sets(problem, Run(problem, seed=0), 12)
    before = starts.copy()
    for feasible in (None, problem.feasible):
        masks, values = descend(objective, starts, problem.slack, feasible)
        assert np.array_equal(starts, before)
        assert values == pytest.approx(objective.values(masks))
        assert (values <= objective.values(starts)).all()
        for b in range(len(starts)):
            alone, value = descend(objective, starts[b : b + 1], problem.slack, feasible)
            assert np.array_equal(alone[0], masks[b])
            assert value[0] == pytest.approx(values[b])
            assert np.concatenate(flips(objective, np.flatnonzero(alone[0]), feasible)).min() >= value[0] - 1e-9
        assert feasible is None or feasible(masks).all()
    tilt = np.random.default_rng(0).normal(size=starts.shape)
    masks, values = descend(objective, starts, problem.slack, tilt=tilt)
    for b in range(len(starts)):
        tilted = objective + ds.Modular(tilt[b])
        assert values[b] == pytest.approx(tilted(masks[b]))
        assert np.concatenate(flips(tilted, np.flatnonzero(masks[b]))).min() >= values[b] - 1e-9
    partly, _ = descend(objective, starts, problem.slack, stop=lambda: True)
    assert np.array_equal(partly, starts)


def test_best_exchange():
    objective = ds.Modular([5.0, 1.0, 3.0, 2.0]) - ds.CardinalityConcave(4)
    mask = np.array([True, False, True, False])
    assert np.array_equal(best_exchange(objective, mask, objective(mask), 1e-9, None), [False, True, True, False])
    full = np.ones(4, dtype=bool)
    assert np.array_equal(best_exchange(objective, full, objective(full), 1e-9, None), full)


@pytest.mark.parametrize("family", STRUCTURED)
def test_modular_bounds_hold_and_touch(family):
    """h <= g with equality at S and its best neighbours; both m >= f with equality at S, S + j and S - i."""
    objective, masks = FAMILIES[family](6, 1), all_masks(6)
    f, g, rows = objective.f, objective.g, np.arange(6)
    scale = 1e-9 * max(1.0, np.abs(f.values(masks)).max(), np.abs(g.values(masks)).max())
    sets = masks[[0, 63, 13, 38]]
    marginals = objective.marginals(sets)
    changes = np.where(sets, -marginals, marginals)
    lower = g([]) + lower_weights(g, orders_through(sets, changes)) @ masks.T
    assert (lower <= g.values(masks) + scale).all()
    for b, S in enumerate(sets):
        index = {mask.tobytes(): k for k, mask in enumerate(masks)}
        assert lower[b, index[S.tobytes()]] == pytest.approx(g(S), abs=scale)
        for inside in set(S):
            least = changes[b][inside == S].min()
            best = [S ^ (rows == j) for j in rows[(inside == S) & (changes[b] <= least + scale)]]
            assert any(lower[b, index[T.tobytes()]] == pytest.approx(g(T), abs=scale) for T in best)
        for kind in ("grow", "shrink"):
            weights = UpperBounds(f, kind).weights(sets)[0][b]
            upper = f(S) + weights @ masks.T - weights[S].sum()
            assert (upper >= f.values(masks) - scale).all()
            for j in rows[(kind == "shrink") == S]:
                T = S ^ (rows == j)
                assert upper[index[T.tobytes()]] == pytest.approx(f(T), abs=scale)


@pytest.mark.parametrize("case", [name for name in CONSTRAINTS if name != "pairs"])
def test_least_modular_set_of_a_frame(case):
    problem = Problem(concave_difference(7, 0), tuple(CONSTRAINTS[case]))
    masks = all_masks(7)
    feasible = masks[problem.feasible(masks)]
    weights = np.random.default_rng(0).normal(size=(40, 7)).round(1)
    least = frame_of(problem).least(weights)
    assert problem.feasible(least).all()
    assert (least * weights).sum(axis=1) == pytest.approx((feasible @ weights.T).min(axis=0))


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("family", ["concave", "coverage", "facility", "logdet", "entropy"])
def test_lazy_greedy_is_greedy(direction, family):
    objective = FAMILIES[family](14, 3)
    mask = np.full(14, direction == "backward")
    while True:
        marginals = objective.marginals(mask[None, :])[0]
        changes = np.where(mask, -marginals, marginals)
        changes[mask == (direction == "forward")] = np.inf
        if not changes.min() < -1e-9:
            break
        mask[changes.argmin()] ^= True
    result = ds.minimize(objective, ds.Greedy(direction))
    assert result.value == pytest.approx(objective(mask), abs=1e-9)


def test_lazy_greedy_asks_less():
    rng = np.random.default_rng(0)
    objective = ds.Modular(0.5 + rng.random(60)) - ds.Coverage(rng.random((80, 60)) < 0.1, rng.random(80))
    hidden = ds.FromCallable(objective, 60) - 0.0
    lazy, eager = ds.minimize(objective, ds.Greedy()), ds.minimize(hidden, ds.Greedy())
    assert lazy.S == eager.S
    assert len(lazy.S) > 5
    assert lazy.oracle_calls < eager.oracle_calls / 2


def test_ssp_and_dca_leave_local_optima_that_flips_do_not():
    """One exact inner minimisation sees every set: f alone is minimised whatever the start."""
    f = ds.Cut([[0, 3, 0], [3, 0, 3], [0, 3, 0]]) + ds.Modular([-1.0, -1.0, -1.0])
    for solver in (ds.SSP(restarts=1), ds.DCA(restarts=1), ds.DCA(rho=0, restarts=1)):
        assert ds.minimize(f - 0.0, solver).S == (0, 1, 2)
    assert ds.minimize(f - 0.0, ds.LocalSearch(restarts=1)).S == ()


@pytest.mark.parametrize("family", ["concave", "coverage", "entropy", "cut"])
def test_proximal_step_of_dca(family):
    """x⁺ is no worse than any other point of the cube in f̂(z) - y·z + ρ/2 |z - x|², and V falls as it must."""
    rng = np.random.default_rng(2)
    objective = FAMILIES[family](8, 1)
    problem = Problem(objective)
    for rho in (0.05, 0.5, 5.0):
        extension = Extension(problem, Run(problem), rho, 1)
        x = rng.random((1, 8)).round(1)
        y = extension.subgradients(x, rng.random((1, 8)))
        step = extension.step(np.arange(1), x, y)
        assert step.min() >= 0
        assert step.max() <= 1
        nearby = np.clip(step + 0.1 * rng.normal(size=(300, 8)), 0, 1)
        points = np.concatenate([step, x, nearby, rng.random((300, 8)), all_masks(8)])
        square = extension.rho / 2 * ((points - x) ** 2).sum(axis=1)
        bound = ds.lovasz_extension(objective.f, points)[0] - points @ y[0] + square
        assert bound[0] <= bound.min() + 1e-6 * max(1.0, np.abs(bound).max())
        before, after = extension.rounded(x), extension.rounded(step)
        assert after.V[0] <= before.V[0] - square[0] + 1e-6
        assert after.values[0] <= after.V[0] + 1e-9
        assert after.values[0] == pytest.approx(objective(after.masks[0]))
