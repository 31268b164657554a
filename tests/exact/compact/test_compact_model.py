"""The compact model: agreement with enumeration and interval branch and bound, limits, interruption, size."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.compact.box_search import build, export
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES, discrete_data, incidence, random_graph, sparse_weights
from dsprog.testing import check_result, check_solver
from tests.helpers.instances import dense_difference, hard_cut, unknown_root
from tests.helpers.interruption import interrupt_highs
from tests.helpers.mixed_terms import KINDS, costs, term_kinds
from tests.helpers.packages import needs_scip


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("side", ["added", "subtracted"])
def test_every_kind_of_term_on_both_sides(name, side):
    rng = np.random.default_rng(len(name))
    n = 6
    h = term_kinds(rng, n)[name]
    other = ds.Coverage(incidence(rng, n, n), rng.random(n))
    f, g = (h, other) if side == "added" else (other, h)
    objective = f + costs(rng, f, g) - g
    result = ds.minimize(objective, ds.CompactModel(), seed=0)
    check_result(result, objective)
    assert result.certified
    assert result.gap <= 1e-6 or abs(result.value) < 1e-3


def test_a_model_is_never_above_the_objective_and_exact_in_the_end():
    rng = np.random.default_rng(1)
    n = 5
    for name, h in term_kinds(rng, n).items():
        for objective in (h - ds.Modular(np.zeros(n)), ds.Modular(np.zeros(n)) - h):
            problem = as_problem(objective, ())
            model = build(problem, 1.0)
            model.set_intervals(*(np.array([getattr(c, end) for c in model.curves]) for end in ("lowest", "highest")))
            for mask, value in zip(all_masks(n), objective.values(all_masks(n))):
                for column, inside in zip(model.x, mask):
                    model.programme.limit(column, float(inside), float(inside))
                assert model.programme.relaxed().bound <= value + 1e-9, name


def test_passes_the_kit():
    families = ["concave", "coverage", "facility", "cut", "pairwise", "entropy"]
    check_solver(ds.CompactModel(), families=[f for f in families if f in FAMILIES], largest=3, seeds=(0,))


def test_eighteen_elements():
    rng = np.random.default_rng(5)
    n = 18
    f = ds.ConcaveOf(ds.Coverage(incidence(rng, 3 * n, n)), "sqrt") + ds.Cut(random_graph(rng, n, 0.2))
    g = ds.FacilityLocation(rng.random((4, n))) + ds.ConcaveOfModular(sparse_weights(rng, 3, n))
    objective = f + ds.Modular(-0.6 * rng.random(n)) - g
    result = ds.minimize(objective, ds.CompactModel(), seed=0)
    check_result(result, objective)
    assert result.certified


def test_unknown_functions_are_not_certified():
    result = ds.minimize(unknown_root(), ds.CompactModel())
    assert result.status == "finished"
    assert result.lower_bound == -np.inf
    assert "submodular" in result.message


def test_a_checkpoint_goes_on(tmp_path):
    rng = np.random.default_rng(2)
    objective = ds.ConcaveOf(ds.Coverage(incidence(rng, 40, 16)), "sqrt") - ds.ConcaveOfModular(rng.random((3, 16)))
    whole = ds.minimize(objective, ds.CompactModel(), seed=0)
    path = tmp_path / "run.npz"
    first = ds.minimize(objective, ds.CompactModel(), seed=0, node_limit=2, checkpoint=path)
    second = ds.minimize(objective, ds.CompactModel(), seed=0, checkpoint=path)
    assert whole.nodes > 2
    assert first.status == "node_limit"
    assert first.lower_bound <= whole.value + 1e-9
    assert second.certified
    assert second.value == pytest.approx(whole.value)


def test_infeasible_constraints():
    objective = ds.Coverage([[1, 1, 0]]) - ds.Modular([0.1, 0.2, 0.3])
    result = ds.minimize(objective, ds.CompactModel(), constraints=[ds.Include([0]), ds.Exclude([0])])
    assert result.status == "infeasible"


def test_limits_leave_an_honest_result(clock):
    objective = dense_difference(60)
    clock.tick = 0.25
    for limits, status in (({"time_limit": 10.0}, "time_limit"), ({"node_limit": 1}, "node_limit")):
        result = ds.minimize(objective, ds.CompactModel(), seed=0, **limits)
        assert result.status == status
        assert not result.certified
        assert result.lower_bound < result.value < np.inf
    assert np.isfinite(result.lower_bound)


@pytest.mark.parametrize("backend", ["highs", pytest.param("scip", marks=needs_scip)])
def test_bounds_are_valid_at_every_limit(backend, clock):
    rng = np.random.default_rng(5)
    n = 16
    f = ds.ConcaveOf(ds.Coverage(incidence(rng, 3 * n, n)), "sqrt") + 0.3 * ds.Entropy(discrete_data(rng, 40, n)[0])
    objective = f - ds.ConcaveOfModular(sparse_weights(rng, 3, n)) - 0.1 * ds.Cut(random_graph(rng, n, 0.3))
    optimum, solver = objective.values(all_masks(n)).min(), ds.CompactModel(backend=backend)
    for limits in ({"node_limit": k} for k in (0, 1, 2, 3, 5, 8, 13)):
        result = ds.minimize(objective, solver, seed=0, **limits)
        assert result.lower_bound <= optimum + 1e-9
        assert result.value >= optimum - 1e-9
    for readings in (0, 1, 3, 10, 30, 100):  # of the clock, until the time is over
        clock.tick = 1.0
        result = ds.minimize(objective, solver, seed=0, time_limit=float(readings))
        assert result.lower_bound <= optimum + 1e-9 <= result.value + 2e-9
        assert result.status in ("time_limit", "optimal")
    assert ds.minimize(objective, solver, seed=0).value == pytest.approx(optimum)


def test_an_interruption_inside_highs_keeps_bound_and_set(monkeypatch):
    cancelled = interrupt_highs(monkeypatch)  # after relaxations, whose bound is known
    result = ds.minimize(dense_difference(60), ds.CompactModel(), seed=0)
    assert result.status == "interrupted"
    assert cancelled.index(True) == len(cancelled) - 1 > 0, "HiGHS is not called again"
    assert -np.inf < result.lower_bound < result.value < np.inf


def test_transformed_functions_enter_as_the_function_does():
    rng = np.random.default_rng(3)
    n = 7
    h = ds.Coverage(incidence(rng, 10, n), rng.random(10)) + ds.ConcaveOfModular(rng.random((2, n)))
    g = ds.FacilityLocation(rng.random((4, n)))
    objective = h - g + ds.Modular(rng.normal(size=n) * 0.2)
    for changed in (
        objective.restrict(include=[1], within=[0, 1, 3, 4, 6]),
        objective.complement(),
        objective.relabel(rng.permutation(n)),
    ):
        result = ds.minimize(changed, ds.CompactModel())
        check_result(result, changed)
        assert result.certified
    assert ds.Coverage.has_columns
    assert not ds.Entropy.has_columns


@pytest.mark.parametrize("kind", [".mps", ".lp"])
def test_a_model_is_written_for_other_solvers(kind, tmp_path):
    import highspy

    rng = np.random.default_rng(0)
    n = 9
    objective = (
        ds.Coverage(incidence(rng, 8, n)) + ds.Modular(rng.normal(size=n)) - ds.FacilityLocation(rng.random((4, n)))
    )
    problem = ds.Problem(objective, (ds.Cardinality(max=4),))
    export(problem, tmp_path / f"model{kind}")
    other = highspy.Highs()
    other.setOptionValue("output_flag", False)
    other.readModel(str(tmp_path / f"model{kind}"))
    other.run()
    assert other.getInfo().objective_function_value == pytest.approx(
        ds.minimize(problem, ds.BruteForce()).value, abs=1e-6
    )


def test_the_bound_of_a_long_programme_is_told_while_it_runs(monkeypatch):
    """HiGHS is watched; a callback of the user ends it and its bound is kept."""
    monkeypatch.setattr("dsprog.run.run.SECONDS_BETWEEN_LINES", 0.0)
    told = []

    def callback(event):
        told.append(event)
        return event.source == "compact model" and len(told) > 40

    result = ds.minimize(hard_cut(), ds.CompactModel(), seed=0, callback=callback, time_limit=30.0)
    assert result.status == "callback"
    assert -np.inf < result.lower_bound < result.value < np.inf


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("starts", [0, 2])
def test_functions_that_enter_as_a_whole_on_every_scale(scale, starts):
    """A concave function of the user's own, subtracted: its majorants are rows with numbers of any size."""
    W, weights = [[1.3, 3.4, 0.3, 2.1, 0.0, 0.0], [0.0, 0.0, 3.8, 2.1, 2.8, 3.8]], [3.0 * scale, 1.4 * scale]
    objective = -1.0 * ds.ConcaveOfModular(W, weights, concave=lambda t: t * (9 - t))
    found = ds.minimize(objective, ds.CompactModel(starts=starts))
    assert found.value == pytest.approx(ds.minimize(objective, ds.BruteForce()).value, rel=1e-7)
