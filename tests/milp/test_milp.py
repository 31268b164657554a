"""Programmes: every backend against enumeration, changes in place against a fresh build, limits, interruption."""

import math
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dsprog import milp
from dsprog.functions.table import all_masks
from tests.helpers.interruption import interrupt_highs
from tests.helpers.packages import BACKENDS, without


def build(n, rows, seed, backend=None, integer=True):
    """min t - λ·h over t >= s_k·x, x = Σ λ_i v_i: the shape that prisms have."""
    rng = np.random.default_rng(seed)
    model = milp.programme(
        np.append(np.zeros(n), 1.0),
        np.append(np.zeros(n), -50.0),
        np.append(np.ones(n), np.inf),
        integer=np.append(np.full(n, integer), False),
        L=np.vstack([np.hstack([-np.eye(n), np.zeros((n, 1))]), np.zeros((1, n + 1))]),
        b=np.append(np.zeros(n), 1.0),
        backend=backend,
    )
    model.require(np.hstack([-rng.normal(size=(rows, n)), np.ones((rows, 1))]), np.zeros(rows))
    return model


def put_simplex(model, n, seed):
    """Columns λ for a random simplex of integer vertices; the heights h at them."""
    rng = np.random.default_rng(seed)
    vertices = np.vstack([np.zeros(n), n * np.eye(n)])
    vertices[rng.integers(1, n + 1)] = rng.integers(0, 2, n) + 0.5
    heights = rng.normal(size=n + 1)
    model.exchange(np.vstack([vertices.T, np.ones(n + 1)]), -heights)
    return vertices, heights


def enumerated(model, n, vertices, heights):
    """The same minimum from the definition: every binary x in the simplex, t as low as the rows allow."""
    masks = all_masks(n).astype(float)
    system = np.vstack([vertices.T, np.ones(n + 1)])
    weights = np.linalg.solve(system, np.vstack([masks.T, np.ones(len(masks))])).T
    inside = (weights >= -1e-9).all(axis=1)
    heights_of_t = np.maximum(-50.0, (masks @ -model.R[:, :-1].T).max(axis=1, initial=-math.inf))
    return np.min((heights_of_t - weights @ heights)[inside], initial=math.inf)


@pytest.mark.parametrize("backend", BACKENDS)
def test_agrees_with_enumeration_and_never_lies_above(backend):
    n = 4
    model, feasible = build(n, 5, 0, backend), 0
    for seed in range(20):
        vertices, heights = put_simplex(model, n, seed)
        if seed % 4 == 3:
            plane = np.random.default_rng(100 + seed).normal(size=n)
            model.require([np.append(-plane, 1.0)], [0.0])
        optimum, found = enumerated(model, n, vertices, heights), model.solve()
        if found.status == "infeasible":
            assert optimum == found.bound == math.inf
            continue
        feasible += 1
        assert found.bound <= optimum
        assert found.bound == pytest.approx(optimum, abs=2 * model.rounding + 1e-6 * (backend == "scipy"))
        np.testing.assert_allclose(found.z[:n], np.round(found.z[:n]), atol=1e-6)
        np.testing.assert_allclose(found.weights @ vertices, found.z[:n], atol=1e-6)
    assert feasible > 10


@pytest.mark.parametrize("backend", BACKENDS)
def test_relaxation_lies_below(backend):
    for seed in range(5):
        binary, relaxed = build(5, 6, seed, backend), build(5, 6, seed, backend, integer=False)
        put_simplex(binary, 5, seed)
        put_simplex(relaxed, 5, seed)
        assert relaxed.solve().bound <= binary.solve().bound + 1e-6


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_point_is_infeasible(backend):
    model = build(3, 2, 0, backend)
    put_simplex(model, 3, 0)
    model.require([[1.0, 1.0, 1.0, 0.0]], [4.0])
    found = model.solve()
    assert (found.status, found.bound, found.z) == ("infeasible", math.inf, None)


@pytest.mark.parametrize("integer", [True, False])
def test_changes_in_place_equal_a_fresh_build(integer):
    model = build(6, 8, 1, integer=integer)
    for seed in range(12):
        put_simplex(model, 6, seed)
        if seed % 3 == 1:
            model.require([np.append(-np.random.default_rng(seed).normal(size=6), 1.0)], [0.0])
        fresh = pickle.loads(pickle.dumps(model))
        assert fresh._model is None
        changed, built = model.solve(), fresh.solve()
        assert changed.status == built.status
        assert changed.bound == pytest.approx(built.bound, abs=1e-8)


def test_costs_that_are_rounding_are_dropped():
    """HiGHS gives up, or searches for ever, where a cost is 4e-16."""
    model = build(2, 1, 0)
    model.exchange(np.vstack([[[0, 2, 0], [0, 0, 2]], np.ones(3)]), [-0.5, 4.4e-16, -1.25])
    assert model.d.tolist() == [-0.5, 0.0, -1.25]


PROPORTIONAL = """
import numpy as np
from dsprog import milp
zero, one, L, b = np.zeros(2), np.ones(2), [[-1, 0], [0, -1], [0, 0]], [0, 0, 1]
model = milp.programme(zero, zero, one, integer=True, L=L, b=b, backend={!r})
model.exchange([[0, 0.75, 0.75], [0, 1.5, 1.5], [1, 1, 1]], [0.5, -2.0, -1.0])
found = model.solve(5.0)
print(found.status, (found.z.round(6) + 0.0).tolist(), found.bound <= 0.5)
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_binary_columns_in_proportion(backend):
    """x = (¾, 1½)(λ₁ + λ₂) is binary at 0 only; HiGHS's presolve never ends there, or finds nothing feasible."""
    # In a process of its own: nothing else ends compiled code that has lost its way.
    command = [sys.executable, "-c", PROPORTIONAL.format(backend)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.stdout == "optimal [0.0, 0.0] True\n", found.stderr


def test_a_programme_that_highs_gives_up_is_built_afresh_and_then_left_to_scipy(monkeypatch):
    model, attempts = build(4, 3, 0), []
    put_simplex(model, 4, 0)
    wanted = model.solve().bound

    def give_up(self, time_limit):
        attempts.append(self._model)

    monkeypatch.setattr(milp.HighsProgramme, "_attempt", give_up)
    assert model.solve().bound == pytest.approx(wanted, abs=1e-4)
    assert len(attempts) == 2
    assert attempts[0] is not None
    assert attempts[1] is None


def hard():
    model = build(60, 600, 0)
    model.exchange(
        np.vstack([np.vstack([np.zeros(60), 60 * np.eye(60)]).T, np.ones(61)]),
        -60 * np.random.default_rng(0).normal(size=61),
    )
    return model


def test_time_limit_is_that_of_each_run():
    model = hard()
    for limit in (0.3, 0.0, 0.3):
        found = model.solve(limit)
        assert (found.status, found.bound) == ("limit", -math.inf)
        worked = model._model.getInfo().simplex_iteration_count > 0
        assert worked == (limit > 0), "what earlier runs took is not taken off"


def test_interrupt_reaches_a_long_run(monkeypatch):
    monkeypatch.setattr(milp.highs, "PATIENCE", 0.01)
    cancelled = interrupt_highs(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        hard().solve()
    assert cancelled == [True]


def test_scipy_stands_in_for_highspy_with_a_message(monkeypatch):
    without(monkeypatch, "highspy")
    with pytest.warns(UserWarning, match="highspy cannot be imported"):
        model = build(3, 2, 0)
    assert isinstance(model, milp.ScipyProgramme)
    with pytest.raises(ImportError, match="pip install highspy"):
        build(3, 2, 0, "highs")


def test_one_file_imports_highs():
    package = Path(milp.__file__).parent.parent
    users = [path for path in package.rglob("*.py") if re.search(r"^\s*(import|from) highspy", path.read_text(), re.M)]
    assert users == [package / "milp" / "highs.py"]


def test_unknown_backend():
    with pytest.raises(ValueError, match="backend must be highs, scipy, scip or None, got 'cplex'"):
        build(3, 2, 0, "cplex")
