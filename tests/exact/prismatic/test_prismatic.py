"""The prismatic algorithm: against enumeration, with its invariants checked at every iteration."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.core.problem import as_problem
from dsprog.exact.prismatic import prism
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES, concave_difference, coverage_difference
from dsprog.run.driver import branch_and_bound
from dsprog.run.limits import Limits
from dsprog.run.run import Run
from dsprog.testing import check_result, check_solver
from tests.helpers.prisms import sets_in

SETTINGS = {
    "paper": ds.Prismatic(),
    "no-goods": ds.Prismatic(no_goods=True),
    "optimum": ds.Prismatic(subdivision="optimum"),
    "optimum-no-goods": ds.Prismatic(subdivision="optimum", no_goods=True),
    "lp": ds.Prismatic(bound="lp"),
    "lp-optimum": ds.Prismatic(bound="lp", subdivision="optimum"),
    "other-corner": ds.Prismatic(subdivision="optimum", start_vertex=(0, 2)),
}


def solved(result, objective):
    """Whether the run came through; if so it must have found the minimum, up to its tolerance."""
    check_result(result, objective)
    values = objective.values(all_masks(objective.n))
    if result.certified:
        assert result.value - values.min() <= 1e-6 * max(1.0, np.abs(values).max()) * objective.n
        assert result.value - result.lower_bound <= 1e-5 * max(1.0, np.abs(values).max()) * objective.n
    return result.certified


# -- agreement ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["paper", "no-goods", "lp-optimum"])
def test_passes_the_kit(name):
    """All families, n = 0 to 3: plain, shifted, relabelled, tied, f = g, modular."""
    check_solver(SETTINGS[name], largest=3, seeds=(0,))


def test_optimum_passes_the_kit():
    check_solver(SETTINGS["optimum"], largest=4, seeds=(1,))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("name", "n", "node_limit", "must_finish"),
    [
        ("paper", 4, 400, True),
        ("paper", 6, 60, False),
        ("no-goods", 6, 400, True),
        ("optimum", 5, 400, True),
        ("optimum", 8, 40, False),
        ("optimum-no-goods", 5, 400, True),
        ("lp", 3, 400, False),
        ("other-corner", 4, 400, True),
    ],
)
def test_agrees_with_enumeration(family, name, n, node_limit, must_finish):
    objective = FAMILIES[family](n, 2)
    result = ds.minimize(objective, SETTINGS[name], node_limit=node_limit)
    finished = solved(result, objective)
    assert finished or not must_finish
    assert finished or result.status == "node_limit"
    assert np.isfinite(result.lower_bound)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("name", "n", "node_limit"), [("paper", 5, None), ("paper", 6, 3000), ("optimum", 7, None), ("optimum", 8, 3000)]
)
def test_agrees_with_enumeration_given_time(family, name, n, node_limit):
    for seed in range(2):
        objective = FAMILIES[family](n, seed)
        result = ds.minimize(objective, SETTINGS[name], node_limit=node_limit)
        assert solved(result, objective) or result.nodes == node_limit


@pytest.mark.parametrize("name", SETTINGS)
def test_one_side_is_modular_or_missing(name):
    f, g = ds.CardinalityConcave(4, "sqrt"), ds.ConcaveOfModular(np.arange(8.0).reshape(2, 4))
    weights = ds.Modular([0.3, -0.2, 0.1, 0.4])
    for objective in (f - weights, weights - g, weights - 2 * weights, f - f, f + weights - f, g - 1.0, f - 0.5 * g):
        limit = 200 if name == "lp" else None  # its bisection is slow
        result = ds.minimize(objective, SETTINGS[name], node_limit=limit)
        assert solved(result, objective) or result.nodes == limit


def test_tiny_ground_sets():
    for solver in SETTINGS.values():
        if solver.start_vertex:
            continue
        nothing = ds.minimize(ds.Modular([], 2.0), solver)
        assert (nothing.S, nothing.value, nothing.certified) == ((), 2.0, True)
        for weight in (-1.0, 0.0, 0.7):
            one = ds.minimize(ds.Modular([weight]) - ds.CardinalityConcave(1, [0, 0.2]), solver)
            assert one.certified
            assert one.value == pytest.approx(min(0.0, weight - 0.2))


def test_size_of_the_data_does_not_matter():
    small = ds.minimize(1e-7 * concave_difference(5, 0) + 0.0, SETTINGS["optimum"])
    large = ds.minimize(1e7 * concave_difference(5, 0) + 0.0, SETTINGS["optimum"])
    assert small.certified
    assert large.certified
    assert small.S == large.S == ds.minimize(concave_difference(5, 0)).S
    assert small.nodes == large.nodes


def test_integral_data_give_an_exact_bound():
    for family in ("pairwise", "rank"):
        result = ds.minimize(FAMILIES[family](6, 1), SETTINGS["optimum"])
        assert result.status == "optimal"
        assert result.lower_bound == result.value


@pytest.mark.parametrize("backend", ["scipy", "scip"])
def test_other_backends(backend):
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    objective = concave_difference(4, 3)
    result = ds.minimize(objective, ds.Prismatic(subdivision="optimum", backend=backend))
    assert result.certified
    assert result.S == ds.minimize(objective).S


# -- invariants -----------------------------------------------------------------------------------------------------


def watch(objective, solver, node_limit):
    """Run with every iteration checked by enumeration."""
    problem = as_problem(objective, ())
    monitor = Run(problem, Limits(node_limit=node_limit))
    method = solver.method(problem, monitor)
    method.start()
    masks = all_masks(objective.n)
    values = objective.values(masks)
    optimum, slack = values.min(), 1e-9 * max(1.0, np.abs(values).max())
    f_values = method.units.f.values(masks)
    expand = method.expand

    def checked(bundle, cutoff):
        assert monitor.lower_bound <= optimum + slack, "β exceeds the optimum"
        inside = sets_in(bundle["vertices"][0], masks)
        fresh = inside & ~np.array([(mask == method.known).all(axis=1).any() for mask in masks])
        lower = bundle["lower"][0]
        assert (values[fresh] >= lower - slack).all(), "a set lies below the bound of its prism"
        expansion = expand(bundle, cutoff)
        assert (masks @ method.slopes.T <= f_values[:, None] + 1e-9).all(), "a cutting plane cuts off a set"
        assert all(child["lower"][0] >= lower for child in expansion.bundles), "a child lies below its parent"
        kept = np.zeros(len(masks), dtype=bool)
        for child in expansion.bundles:
            kept |= sets_in(child["vertices"][0], masks)
        alpha = min(cutoff, expansion.values.min(initial=np.inf))
        deleted = values[fresh & ~kept]
        assert (deleted >= np.minimum(alpha, expansion.closed) - slack).all(), "a deleted prism has a better set"
        assert expansion.closed >= method._closing(alpha), "a prism was closed too early"
        np.testing.assert_allclose(expansion.values, objective.values(expansion.masks), atol=slack)
        checked.calls += 1
        return expansion

    checked.calls = 0
    method.expand = checked
    verdict = branch_and_bound(method, monitor)
    assert checked.calls > 0
    assert verdict.status in ("optimal", "node_limit")
    assert monitor.lower_bound <= optimum + slack


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", SETTINGS)
def test_invariants_at_every_iteration(family, name):
    watch(FAMILIES[family](4, 5), SETTINGS[name], node_limit=40)


def test_the_watch_catches_a_wrong_bound(monkeypatch):
    real = prism.prism_bound

    def too_high(*arguments):
        bound = real(*arguments)
        return prism.PrismBound(bound.status, bound.beta + 0.3, bound.x)

    monkeypatch.setattr(prism, "prism_bound", too_high)
    with pytest.raises(AssertionError, match=r"lies below the bound|exceeds the optimum"):
        watch(concave_difference(4, 5), SETTINGS["paper"], node_limit=40)


# -- limits, certificates, constraints, checkpoints -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["paper", "optimum", "lp"])
def test_limits_leave_an_honest_result(name, clock):
    clock.tick = 0.01
    objective = coverage_difference(8, 0)
    for limits, status in (
        ({"time_limit": 0.0}, "time_limit"),
        ({"time_limit": 0.3}, "time_limit"),
        ({"node_limit": 5}, "node_limit"),
    ):
        result = ds.minimize(objective, SETTINGS[name], **limits)
        check_result(result, objective)
        assert result.status == status
        assert not result.certified
        assert np.isfinite(result.value)
        assert np.isfinite(result.lower_bound) or limits["time_limit"] == 0.0
    assert result.nodes == 5


def test_a_gap_can_be_accepted():
    objective = concave_difference(6, 1)
    exact, near = (ds.minimize(objective, SETTINGS["optimum"], gap=gap) for gap in (0.0, 0.3))
    assert near.certified
    assert near.nodes < exact.nodes
    assert near.value <= exact.value + 0.3 * abs(near.value)


def test_not_certified_unless_both_sides_are_known_to_be_submodular():
    known = ds.CardinalityConcave(4, "sqrt")
    unknown = ds.FromCallable(lambda S: 0.4 * len(S) ** 2, 4)
    for objective in (known - unknown, unknown - known):
        for solver in SETTINGS.values():
            result = ds.minimize(objective, solver, node_limit=200)
            assert not result.certified
            assert result.lower_bound == -np.inf
            assert result.status in ("finished", "node_limit")
            assert "submodular" in result.message or result.status == "node_limit"


def test_constraints():
    objective, masks = concave_difference(5, 1), all_masks(5)
    constraints = [ds.Cardinality(2, 3), ds.Include([1]), ds.Exclude([0])]
    feasible = (masks.sum(axis=1) >= 2) & (masks.sum(axis=1) <= 3) & masks[:, 1] & ~masks[:, 0]
    for name in ("paper", "no-goods", "optimum"):
        result = ds.minimize(objective, SETTINGS[name], constraints=constraints, node_limit=500)
        check_result(result, objective, feasible)
        assert result.certified
        assert result.value == pytest.approx(objective.values(masks)[feasible].min())
        nothing = ds.minimize(objective, SETTINGS[name], constraints=[ds.Include([0]), ds.Exclude([0])])
        assert nothing.status == "infeasible"
    with pytest.raises(ValueError, match="needs a problem without constraints where bound='lp'"):
        ds.minimize(objective, SETTINGS["lp"], constraints=constraints)
    knapsack = ds.Knapsack(np.arange(1.0, 6.0), 6.0)
    result = ds.minimize(objective, SETTINGS["paper"], constraints=[knapsack], node_limit=500)
    check_result(result, objective, masks @ np.arange(1.0, 6.0) <= 6.0)
    assert result.certified


@pytest.mark.parametrize("name", ["paper", "optimum", "no-goods", "lp"])
def test_resumed_run_equals_an_uninterrupted_one(name, tmp_path):
    objective, path = FAMILIES["facility"](4, 0), tmp_path / "run.npz"
    whole = ds.minimize(objective, SETTINGS[name])
    result, parts, step = None, 0, whole.nodes // 4
    while result is None or result.status == "node_limit":
        parts += 1
        result = ds.minimize(objective, SETTINGS[name], node_limit=step * parts, checkpoint=path)
        check_result(result, objective)
    assert parts > 2
    assert (result.S, result.status) == (whole.S, whole.status)
    assert result.nodes == whole.nodes or SETTINGS[name].no_goods  # a resumed run excludes its last sets anew
    assert result.lower_bound == pytest.approx(whole.lower_bound, abs=1e-9)


def test_interrupt_keeps_best_set_bound_and_checkpoint(tmp_path):
    objective, path = concave_difference(5, 0), tmp_path / "run.npz"
    real, calls = prism.prism_bound, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return real(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prism, "prism_bound", interrupted)
        result = ds.minimize(objective, SETTINGS["paper"], checkpoint=path)
    check_result(result, objective)
    assert result.status == "interrupted"
    assert np.isfinite(result.lower_bound)
    assert ds.minimize(objective, SETTINGS["paper"], checkpoint=path).S == ds.minimize(objective).S


def test_log_and_trace_show_cuts(capsys):
    result = ds.minimize(concave_difference(5, 0), SETTINGS["paper"], verbose=1, initial=[1])
    headers = [line.split() for line in capsys.readouterr().err.splitlines() if line.startswith("source")]
    assert headers[-1] == ["source", "seconds", "nodes", "open", "cuts", "bound", "value", "gap"]
    assert result.trace[-1].cuts > 0
    assert [event.cuts for event in result.trace[1:]] == sorted(event.cuts for event in result.trace[1:])


def test_bad_settings():
    for words, settings in (
        ("bound must be 'bilp' or 'lp', got 'sdp'", {"bound": "sdp"}),
        ("subdivision must be", {"subdivision": "edge"}),
        ("backend must be", {"backend": "cplex"}),
        ("tolerance must be", {"tolerance": -1.0}),
    ):
        with pytest.raises(ValueError, match=words):
            ds.Prismatic(**settings)
    with pytest.raises(ValueError, match="start_vertex must have elements from 0 to 2, got 7"):
        ds.minimize(ds.Modular([1.0, 2.0, 3.0]), ds.Prismatic(start_vertex=[7]))
