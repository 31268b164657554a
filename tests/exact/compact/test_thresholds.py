"""Threshold bounds, cuts and the searches on them: definitions, brute force, degenerate tables, limits, HiGHS."""

import math

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.compact.ascent import RootAscent
from dsprog.exact.compact.box_search import build
from dsprog.exact.compact.maxima import best_two_of, exchange_kernel, maxima_of
from dsprog.exact.compact.rounding import filled
from dsprog.exact.compact.threshold_cuts import ThresholdCuts
from dsprog.exact.compact.thresholds import ThresholdBound
from dsprog.functions import facility
from dsprog.functions.table import all_masks
from dsprog.run.run import Run
from dsprog.testing import check_result

PROGRAMME = ds.CompactModel(thresholds=False)


@pytest.fixture
def no_pairs(monkeypatch):
    """Facility location enters by threshold cuts, however small it is."""
    monkeypatch.setattr(facility, "MOST_PAIRS", -1)


def tables(rng, n):
    """Objectives that are costs less best benefits: random, with few values, rough scales, duplicates, nothing."""
    free, members = ds.Modular(np.zeros(n)), rng.random((2 * n, n)) < 0.3
    few = rng.integers(0, 4, (n + 3, n)).astype(float)
    points = rng.random((n, 2)).repeat(2, axis=0)[:n]  # each point twice
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    return {
        "facility": free - ds.FacilityLocation(rng.random((n + 1, n))),
        "whole": free - ds.FacilityLocation(few),
        "large": free - ds.FacilityLocation(1e6 * rng.random((3, n))),
        "small": 1e-5 * ds.Modular(rng.random(n)) - 1e-5 * ds.FacilityLocation(rng.random((9, n))),
        "shifted": ds.Modular(rng.normal(size=n)) + 7.25 - ds.FacilityLocation(rng.random((5, n))),
        "medoids": free - ds.FacilityLocation(distance.max() - distance),
        "coverage": free - ds.Coverage(members, rng.random(2 * n)),
        "digits": free - ds.Coverage(members, rng.integers(1, 999, 2 * n) / 1000),
        "both": ds.Modular(rng.random(n)) - 2.0 * ds.Coverage(members) - ds.FacilityLocation(rng.random((4, n))),
        "nothing": free - ds.FacilityLocation(np.zeros((4, n))),
        "equal": free - ds.FacilityLocation(np.ones((4, n))),
    }


def limits(rng, n):
    """Constraints of every kind, some that nothing satisfies, some that share elements."""
    groups = ds.Partition(np.arange(n) % 3, [1, 2, 1])
    return {
        "none": (),
        "at most": (ds.Cardinality(max=3),),
        "exactly": (ds.Cardinality(min=3, max=3),),
        "zero": (ds.Cardinality(max=0),),
        "all": (ds.Cardinality(max=n),),
        "at least": (ds.Cardinality(min=n - 2),),
        "knapsack": (ds.Knapsack(rng.random(n), 0.2 * n),),
        "groups": (groups,),
        "two rows": (ds.Knapsack(rng.random(n), 0.3 * n), ds.Cardinality(min=2, max=4)),
        "signs": (ds.LinearConstraint(rng.normal(size=n), lo=0.3, hi=1.5),),
        "inside": (ds.Include([1]), ds.Exclude([0, 2]), ds.Cardinality(max=4)),
        "infeasible": (ds.Cardinality(min=3), ds.Knapsack(np.ones(n), 2.0)),
    }


@pytest.mark.parametrize("solver", [ds.CompactModel(), PROGRAMME], ids=["thresholds", "programme"])
@pytest.mark.parametrize("kind", list(limits(np.random.default_rng(0), 8)))
@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_enumeration(solver, kind, seed, no_pairs):
    rng = np.random.default_rng(seed)
    n = 7 + 2 * seed
    for name, objective in tables(rng, n).items():
        constraints = limits(rng, n)[kind]
        result = ds.minimize(objective, solver, constraints=constraints, seed=0, reduce=bool(seed))
        masks = all_masks(n)
        masks = masks[as_problem(objective, constraints).feasible(masks)]
        if len(masks) == 0:
            assert result.status == "infeasible", (name, kind)
            continue
        values = objective.values(masks)
        scale = max(1e-9, float(np.abs(values).max()))
        assert result.status == "optimal", (name, kind)
        assert result.value == pytest.approx(values.min(), abs=1e-9 * scale), (name, kind)
        assert result.lower_bound <= values.min() + 1e-9 * scale, (name, kind)
        assert result.certified


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_any_thresholds_lies_below_every_set_of_the_interval(seed):
    rng = np.random.default_rng(seed)
    n = 7
    masks = all_masks(n)
    for objective in tables(rng, n).values():
        for constraints in ((), (ds.Cardinality(min=2, max=4),), (ds.Knapsack(rng.random(n), 1.5),)):
            problem = as_problem(objective, constraints)
            bound = ThresholdBound(maxima_of(problem), problem)
            I = rng.random(n) < 0.15
            U = I | (rng.random(n) < 0.8)
            inside = (masks >= I).all(axis=1) & (masks <= U).all(axis=1) & problem.feasible(masks)
            values = problem.objective.values(masks)
            least = float(values[inside].min(initial=np.inf))
            scale = float(np.abs(values).max()) + 1e-12
            for steps in (1, 3, 30):
                p = len(bound.maxima.floor)
                walk = bound.walk(rng.random(p) * bound.maxima.benefits.max(initial=1.0))
                lower = bound.climb(I, U, walk, min(least, 1e9), np.inf, steps)
                assert lower <= least + 1e-12 * scale
                if not math.isfinite(least):
                    continue
                smaller_I, smaller_U, decided, _ = bound.settle(I, U, walk, least + 0.1 * scale)
                left_out = inside & ~((masks >= smaller_I).all(axis=1) & (masks <= smaller_U).all(axis=1))
                assert (values[left_out] >= decided - 1e-12 * scale).all()


def test_the_long_ascent_reaches_the_linear_relaxation():
    rng = np.random.default_rng(4)
    n = 40
    problem = as_problem(ds.Modular(np.zeros(n)) - ds.FacilityLocation(rng.random((50, n))), (ds.Cardinality(max=6),))
    run = Run(problem)
    found = RootAscent(maxima_of(problem), problem, run).go()
    relaxed = build(problem, 1.0).programme.relaxed().bound
    assert found.lower <= relaxed + 1e-6
    assert found.lower >= relaxed - 0.02 * (run.value - relaxed) - 1e-6 or found.lower >= run.cutoff
    assert found.I.sum() <= 6 <= found.U.sum()


@pytest.mark.parametrize("seed", range(3))
def test_threshold_cuts_hold_at_every_set_and_are_tight_at_the_point(seed, no_pairs):
    rng = np.random.default_rng(seed)
    n = 6
    objective = ds.Modular(np.zeros(n)) - ds.FacilityLocation(rng.random((9, n)))
    model = build(as_problem(objective, ()), 2.0)
    (cut,) = model.cuts
    assert isinstance(cut, ThresholdCuts)
    for point in [*rng.random((6, n)), *rng.integers(0, 2, (6, n)).astype(float)]:
        z = np.zeros(len(model.programme.cost))
        z[model.x], z[cut.theta] = point, 1e3
        cut.separate(z, model)
        constants, slopes = cut.tangents(point)
        g = objective.g
        assert constants.sum() + slopes.sum(axis=0) @ point == pytest.approx(g.concave_extension(point[None, :])[0])
    for mask, value in zip(all_masks(n), objective.values(all_masks(n))):
        for column, inside in zip(model.x, mask):
            model.programme.limit(column, float(inside), float(inside))
        assert model.unit * model.programme.relaxed().bound <= value + 1e-9


@pytest.mark.parametrize("seed", range(2))
def test_cuts_beside_other_terms(seed, no_pairs):
    """f - g sums: facility location on both sides, with coverage, costs and rows."""
    rng = np.random.default_rng(seed)
    n = 10
    f = ds.Coverage(rng.random((12, n)) < 0.3, rng.random(12)) + ds.FacilityLocation(rng.random((3, n)))
    objective = f - ds.FacilityLocation(rng.random((8, n))) - ds.Modular(0.2 * rng.random(n))
    for constraints in ((), (ds.Cardinality(min=2, max=3),), (ds.Include([2]), ds.Knapsack(rng.random(n), 2.0))):
        result = ds.minimize(objective, ds.CompactModel(), constraints=constraints, seed=0)
        check_result(result, objective, as_problem(objective, constraints).feasible(all_masks(n)))
        assert result.certified


@pytest.mark.parametrize(("n", "k"), [(25, 4), (40, 8), (60, 15)])
def test_the_natural_model_as_referee(n, k, monkeypatch):
    rng = np.random.default_rng(n)
    points = rng.random((n, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    problem = ds.Problem(
        ds.Modular(np.zeros(n)) - ds.FacilityLocation(distance.max() - distance), (ds.Cardinality(max=k),)
    )
    by_thresholds = ds.minimize(problem, ds.CompactModel(), seed=0)
    assert "threshold" in by_thresholds.proof
    natural = build(problem, 1.0).programme.solve()
    assert by_thresholds.certified
    assert natural.bound == pytest.approx(by_thresholds.value, abs=1e-5)


def test_exchanges_are_priced_by_definition():
    rng = np.random.default_rng(2)
    objective = tables(rng, 9)["both"]
    problem = as_problem(objective, ())
    maxima = maxima_of(problem)
    members, others = np.array([1, 4, 7]), np.array([0, 2, 3, 5, 6, 8])
    gains = np.empty((6, 3))
    exchange_kernel(maxima.benefits, members, others, *best_two_of(maxima, members), gains)
    for r, come in enumerate(others):
        for m, go in enumerate(members):
            after = np.append(members[members != go], come)
            change = maxima.value(after) - maxima.value(members)
            costs = maxima.costs[come] - maxima.costs[go]
            assert change == pytest.approx(costs - gains[r, m], abs=1e-12)
    assert maxima.value(members) == pytest.approx(objective(members))


def test_values_on_a_grid_lift_bounds_to_it():
    rng = np.random.default_rng(0)
    found = {name: maxima_of(as_problem(objective, ())) for name, objective in tables(rng, 8).items()}
    assert [found[name].grain for name in ("whole", "digits", "facility", "nothing")] == [1.0, 0.001, 0.0, 1.0]
    digits = found["digits"]
    assert digits.rounded_up(-1.2345) == pytest.approx(-1.234)
    assert digits.rounded_up(-1.234) == pytest.approx(-1.234)
    assert digits.rounded_up(-1.2340000001) == pytest.approx(-1.234)
    assert digits.rounded_up(digits.before(-1.234)) >= -1.234 - 1e-12


def test_what_has_no_table():
    n = 5
    rng = np.random.default_rng(0)
    benefit, cover = ds.FacilityLocation(rng.random((4, n))), ds.Coverage(np.eye(n))
    for objective in (cover - benefit, ds.Modular(np.ones(n)) - ds.ConcaveOf(cover), ds.Modular(np.ones(n)) - 0.0):
        assert maxima_of(as_problem(objective, ())) is None


def test_rounding_keeps_the_rows():
    rng = np.random.default_rng(1)
    for kind in ("at most", "exactly", "at least", "knapsack", "groups"):
        problem = as_problem(ds.Modular(np.zeros(9)), limits(rng, 9)[kind])
        for _ in range(20):
            order = rng.permutation(9)
            assert problem.feasible(filled(problem.rows, order, rng.random(9) < 0.6)[None, :])[0], kind


def test_limits_leave_an_honest_result(clock):
    rng = np.random.default_rng(3)
    n = 60
    problem = ds.Problem(ds.Modular(np.zeros(n)) - ds.Coverage(rng.random((80, n)) < 0.08), (ds.Cardinality(max=8),))
    best = ds.minimize(problem, ds.CompactModel(), seed=0, node_limit=3000).value
    for nodes in (0, 1, 2, 5):
        result = ds.minimize(problem, ds.CompactModel(), seed=0, node_limit=nodes)
        assert -math.inf < result.lower_bound <= best + 1e-9 <= result.value + 2e-9
    clock.tick = 0.5
    for seconds in (0.0, 1.0, 10.0, 50.0):
        result = ds.minimize(problem, ds.CompactModel(), seed=0, time_limit=seconds)
        assert result.lower_bound <= best + 1e-9 <= result.value + 2e-9
    assert math.isfinite(result.lower_bound)


def test_a_checkpoint_goes_on(tmp_path):
    rng = np.random.default_rng(5)
    n = 40
    problem = ds.Problem(ds.Modular(np.zeros(n)) - ds.FacilityLocation(rng.random((40, n))), (ds.Cardinality(max=5),))
    whole = ds.minimize(problem, ds.CompactModel(), seed=0)
    path = tmp_path / "run.npz"
    first = ds.minimize(problem, ds.CompactModel(), seed=0, node_limit=2, checkpoint=path)
    second = ds.minimize(problem, ds.CompactModel(), seed=0, checkpoint=path)
    assert whole.nodes > 2
    assert first.status == "node_limit"
    assert second.certified
    assert second.value == pytest.approx(whole.value)


def test_a_gap_that_is_allowed_is_not_hidden():
    rng = np.random.default_rng(6)
    n = 30
    problem = ds.Problem(ds.Modular(np.zeros(n)) - ds.FacilityLocation(rng.random((30, n))), (ds.Cardinality(max=4),))
    best = ds.minimize(problem, ds.CompactModel(), seed=0).value
    for solver in (ds.CompactModel(), PROGRAMME):
        result = ds.minimize(problem, solver, seed=0, gap=0.2)
        assert result.lower_bound <= best + 1e-9
        assert result.gap <= 0.2 + 1e-9


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_rounding_that_reaches_the_bound_closes_a_box(scale):
    """Where a set found by rounding has the value of the bound, there is nothing left to halve or to solve."""
    points = np.random.default_rng(0).normal(size=(40, 2)) * scale
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    for k in (2, 5, 20):
        g = ds.FacilityLocation(distance.max() - distance)
        problem = ds.Problem(ds.Modular(np.zeros(40)) - g, (ds.Cardinality(max=k),))
        results = [ds.minimize(problem, solver, seed=0) for solver in (ds.CompactModel(starts=0), PROGRAMME)]
        assert all(result.certified for result in results)
        assert results[0].value == pytest.approx(results[1].value)


def test_options_are_checked():
    with pytest.raises(TypeError, match="thresholds must be True or False"):
        ds.CompactModel(thresholds=1)
