"""Claims that were once wrong, each with the instance that showed it, and their relatives."""

import os
import signal

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.core.validation import all_masks
from dsprog.generators import FAMILIES, concave_difference, pairwise_energy
from dsprog.testing import check_result


def minimum(objective, constraints=()):
    """The least value over the feasible sets, by enumeration."""
    masks = all_masks(objective.n)
    return objective.values(masks)[as_problem(objective, constraints).feasible(masks)].min()


# -- gaps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [None, ds.BranchAndBound(), ds.CompactModel(), ds.Prismatic(subdivision="optimum")])
def test_a_gap_is_not_called_optimal(solver):
    n, seed = (16, 30) if solver is None or isinstance(solver, ds.BranchAndBound) else (6, 3)
    objective = concave_difference(n, seed=seed)
    result = ds.minimize(objective, solver, gap=0.3)
    check_result(result, objective)
    assert result.status in ("optimal", "gap")
    assert result.certified
    assert result.gap <= 0.3
    if result.status == "optimal":
        assert result.value == pytest.approx(minimum(objective))


def test_nothing_left_with_a_gap():
    result = ds.minimize(ds.Modular([1.0, 2.0]) - ds.Coverage([[1, 0]]), gap=0.5, reduce=True)
    assert (result.status, result.value) == ("optimal", 0.0)
    with pytest.raises(ValueError, match="gap must be a finite number"):
        ds.minimize(ds.Modular([1.0]), gap=np.inf)


def test_a_checkpoint_knows_gap_and_distance(tmp_path):
    objective = concave_difference(12, seed=1)
    ds.minimize(objective, ds.BranchAndBound(starts=0), gap=2.0, checkpoint=tmp_path / "gap.npz")
    with pytest.raises(ValueError, match=r"belongs to gap 2\.0, not to 0\.0"):
        ds.minimize(objective, ds.BranchAndBound(starts=0), checkpoint=tmp_path / "gap.npz")
    again = ds.minimize(objective, ds.BranchAndBound(starts=0), gap=3.0, checkpoint=tmp_path / "gap.npz")
    assert again.gap <= 3.0
    ds.enumerate_best(ds.Modular(np.arange(4.0)), 8, within=0.0, checkpoint=tmp_path / "best.npz")
    with pytest.raises(ValueError, match=r"belongs to within 0\.0, not to None"):
        ds.enumerate_best(ds.Modular(np.arange(4.0)), 8, checkpoint=tmp_path / "best.npz")


def test_lists_keep_every_tie():
    for n in (3, 6):
        best = ds.enumerate_best(ds.Modular(np.zeros(n)), 1 << n, within=0.0)
        assert len(best) == 1 << n
        assert best.certified


# -- rows -----------------------------------------------------------------------------------------------------------


def test_symmetry_needs_exactly_symmetric_rows():
    rng = np.random.default_rng(0)
    for seed in range(20):
        W = np.triu(rng.integers(0, 9, (8, 8)), 1).astype(float)
        weights = 1e6 + rng.integers(0, 50, 8)
        total = weights.sum()
        rows = [ds.LinearConstraint(weights, lo=total / 2 - 1e6 - 7, hi=total / 2 + 1e6 + rng.integers(0, 9))]
        objective = -1.0 * ds.Cut(W + W.T)
        result = ds.minimize(objective, constraints=rows)
        assert result.value == pytest.approx(minimum(objective, rows)), seed


def test_a_limit_is_kept_whatever_the_other_weights():
    heavy = [ds.Knapsack([1e12, 1, 1, 1, 1], 2)]
    assert len(ds.minimize(ds.Modular([-1.0] * 5), constraints=heavy).S) == 2
    decimals = [ds.Knapsack([0.1, 0.2, 0.3], 0.3)]  # 0.1 + 0.2 is above 0.3 in binary
    assert ds.minimize(ds.Modular([-1.0, -1.0, -1.5]), constraints=decimals).S == (0, 1)


def test_infeasible_problems_are_never_certified():
    for weights in ([0.0, 0.0, 0.0], [1.0, -1.0, 1.0]):
        result = ds.minimize(ds.Modular(weights), constraints=[ds.Knapsack([1.0, 0.0, 0.0], -0.5)])
        assert (result.status, result.certified, result.value) == ("infeasible", False, np.inf)


# -- scales and offsets ---------------------------------------------------------------------------------------------


def test_large_values_hide_no_optimum():
    plain = concave_difference(10, seed=1)
    big = 1e11 * ds.CardinalityConcave(10, "sqrt")
    objective = (plain.f + big) - (plain.g + big.declare(submodular=True))
    result = ds.minimize(objective)
    assert result.value == pytest.approx(minimum(plain), abs=1e-3)
    assert result.lower_bound <= minimum(plain) + 1e-3


@pytest.mark.parametrize("offset", [1e8, -1e8])
def test_constants_do_not_widen_tolerances(offset):
    plain = concave_difference(8, seed=3)
    result = ds.minimize(plain + offset, ds.CompactModel())
    assert result.status == "optimal"
    assert result.value - offset == pytest.approx(minimum(plain), abs=1e-5)
    assert result.value - result.lower_bound < 1e-4


@pytest.mark.parametrize("scale", [1e12, 1e-9])
def test_scip_works_in_units_of_the_data(scale):
    pytest.importorskip("pyscipopt")
    plain = concave_difference(8, seed=0)
    result = ds.minimize(scale * plain, ds.Scip())
    assert result.certified
    assert result.value / scale == pytest.approx(minimum(plain))
    assert result.value - result.lower_bound < 1e-4 * scale


def test_another_instance_is_told_whatever_the_offset(tmp_path):
    path, solver = tmp_path / "run.npz", ds.BranchAndBound()
    ds.minimize(concave_difference(10, seed=0) + 1e12, solver, checkpoint=path)
    with pytest.raises(ValueError, match="another instance"):
        ds.minimize(concave_difference(10, seed=1) + 1e12, solver, checkpoint=path)


def test_a_small_tolerance_that_is_large_for_the_data_is_a_gap():
    result = ds.minimize(ds.Modular([-1e-9]) - ds.NuclearNorm([[1e-9]]), ds.CompactModel(starts=0), reduce=False)
    assert result.lower_bound <= result.value
    assert result.certified is (result.value - result.lower_bound <= 1e-13)


# -- claims of users ------------------------------------------------------------------------------------------------


def test_concavity_is_judged_without_the_offset():
    for build in (
        lambda: ds.ConcaveOfModular(np.ones((1, 8)), concave=lambda t: 1e12 + t**2),
        lambda: ds.CardinalityConcave(8, lambda t: 1e12 + t**2),
        lambda: ds.ConcaveOf(ds.Modular(np.ones(8)), lambda t: 1e12 + t**2),
    ):
        with pytest.raises(ValueError, match="concave"):
            build()


def test_a_dip_between_the_points_of_the_grid_is_seen_on_sets():
    def dipped(t):
        return np.sqrt(t) - 0.5 * (np.abs(t - 3.0) < 1e-6)

    with pytest.raises(ValueError, match=r"concave|not submodular"):
        ds.minimize(ds.ConcaveOfModular(np.ones((1, 6)), concave=dipped) - ds.Modular(0.3 * np.ones(6)))


def test_a_family_of_ones_own_is_sampled():
    class Squares(ds.SetFunction):
        def __init__(self, n):
            self.n, self.knows = n, ds.Knowledge(submodular=True)

        def _values(self, masks):
            return masks.sum(axis=1) ** 2.0

    with pytest.raises(ValueError, match="f must be submodular, but it is not submodular"):
        ds.minimize(Squares(6) - ds.Modular(np.ones(6)))


# -- crashes --------------------------------------------------------------------------------------------------------


def test_budgets_of_large_structured_problems():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rewards = ds.Coverage((rng.random((60, 90)) < 0.05).astype(float), rng.random(60))
        result = ds.minimize(ds.Modular(rng.random(90)) - rewards, constraints=[ds.Cardinality(9, 9)], node_limit=400)
        assert len(result.S) == 9
        assert result.lower_bound <= result.value


def test_a_programme_that_fails_costs_a_bound_never_the_run(monkeypatch):
    from dsprog.milp.programme import ProgrammeFailed
    from dsprog.milp.sparse import SparseProgramme

    def fail(self, *args, **options):
        raise ProgrammeFailed("HiGHS could not treat a programme: Unknown")

    monkeypatch.setattr(SparseProgramme, "relaxed", fail)
    rng = np.random.default_rng(0)
    covers = [ds.Coverage((rng.random((40, 90)) < 0.03).astype(float), rng.random(40)) for _ in range(2)]
    objective = 0.2 * covers[0] + ds.Modular(rng.random(90)) - covers[1]
    default = ds.minimize(objective, reduce=False, node_limit=2000)
    assert default.solver == "Race"
    assert default.lower_bound <= default.value < 0.0
    assert default.nodes > 0
    assert "BranchAndBound" in default.proof
    named = ds.minimize(objective, ds.CompactModel(), reduce=False)
    assert named.status == "finished"
    assert "Unknown" in named.message


@pytest.mark.parametrize(
    "options", [{"leaf": 30}, {"batch": 0}, {"unit": 0}, {"steps": 0}, {"starts": -1}, {"bounds": ()}], ids=str
)
def test_options_are_checked(options):
    with pytest.raises(ValueError):
        ds.BranchAndBound(**options)


def test_no_starts():
    assert ds.minimize(pairwise_energy(14, seed=0), ds.QuadraticBranchAndBound(starts=0)).certified


# -- what one sees on the way ---------------------------------------------------------------------------------------


def test_the_live_bound_is_seen_inside_units(clock):
    """The clock goes on by a second a look, so that every batch is reported."""
    clock.tick = 1.0
    events = []
    result = ds.minimize(concave_difference(30, seed=3), ds.BranchAndBound(batch=16), callback=events.append)
    inside = [event for event in events if event.source == "search" and event.nodes < result.nodes]
    assert len({event.lower_bound for event in inside}) > 3
    assert any(event.open > 16 for event in inside)
    bounds = [event.lower_bound for event in events]
    assert bounds == sorted(bounds)


def test_a_callback_stops_at_the_gap_it_wants(clock):
    clock.tick = 1.0
    solver = ds.BranchAndBound(batch=16)
    result = ds.minimize(concave_difference(30, seed=3), solver, callback=lambda event: event.gap < 0.1)
    assert result.status == "callback"
    assert result.gap < 0.1


def test_sigterm_saves_and_stops(tmp_path):
    path, objective, before = tmp_path / "run.npz", concave_difference(26, seed=3), signal.getsignal(signal.SIGTERM)
    solver = ds.BranchAndBound(batch=8, unit=64)

    def terminate(event):
        if event.nodes > 50:
            os.kill(os.getpid(), signal.SIGTERM)

    first = ds.minimize(objective, solver, checkpoint=path, callback=terminate, node_limit=4000)
    assert first.status in ("interrupted", "optimal", "node_limit")
    assert signal.getsignal(signal.SIGTERM) is before
    assert path.exists()
    assert ds.minimize(objective, solver, checkpoint=path).value == pytest.approx(ds.minimize(objective).value)


def test_one_blas_thread_and_as_many_as_before_afterwards():
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    seen, before = [], threads()
    ds.minimize(FAMILIES["logdet"](8, 0), ds.BruteForce(batch=8), callback=lambda event: seen.append(threads()))
    assert seen
    assert all(count == 1 for counts in seen for count in counts)
    assert threads() == before


def test_an_optimum_up_to_tolerances_says_so():
    entropy = ds.ConditionalEntropy(np.zeros((12, 1), dtype=int), [1, 0, 0, 0] * 3)
    objective = 0.5 * ds.ConcaveOfModular([[1.0], [3.0]], concave="log1p") + 1000.0 * entropy
    result = ds.minimize(objective, ds.CompactModel(tolerance=0.0))
    assert result.status == "gap" or result.value - result.lower_bound <= 1e-6 or "tolerances" in result.message
    coverage = ds.Coverage([[1, 0, 1], [1, 1, 0], [0, 1, 0]])
    proved = ds.minimize(ds.ConcaveOf(coverage) - ds.Modular([0.9, 0.2, 0.8]), ds.CompactModel())
    assert (proved.value - proved.lower_bound <= 1e-12) != ("tolerances" in proved.message)
