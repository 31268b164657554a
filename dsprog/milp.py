"""Small linear programmes with binary columns, solved to a gap of zero.

This file and :mod:`dsprog.sparse_milp` are the only ones that know HiGHS.

A programme is

    min  c·z + d·λ    such that    L z + W λ = b,    R z >= r,    z in its box, some of z integer,    λ >= 0.

It is built once. Afterwards rows R z >= r are added and (W, d) are exchanged, in place where the solver can do that.
What comes back is the *dual* bound, lowered by what the solver's own tolerances may hide: a set that the solver has
missed by rounding is not lost. The arrays are kept beside the solver's object, so a programme can be pickled and
built again.

>>> import numpy as np
>>> p = programme([-1.0, -1.0], [0, 0], [1, 1], integer=True, L=np.zeros((1, 2)), b=[1.0])
>>> p.exchange(W=np.ones((1, 1)), d=[0.0])
>>> p.require([[-2.0, -2.0]], [-3.0])
>>> found = p.solve()
>>> found.status, round(found.bound, 6), round(float(found.z.sum()), 6)
('optimal', -1.0, 1.0)
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dsprog.validation import Floats

PATIENCE = 1.0  # seconds that HiGHS may take before Ctrl-C is watched for


@dataclass(frozen=True)
class Optimum:
    """What a solver found.

    ``status`` is "optimal", "infeasible" or "limit" (out of time); ``bound`` is valid in each case, +inf if there is no
    feasible point; ``z`` and ``weights`` (λ) are there if it is optimal.
    """

    status: str
    bound: float
    z: Floats | None = None
    weights: Floats | None = None


class Programme(ABC):
    """The arrays of a programme; a subclass adds a solver."""

    tolerance: ClassVar[float]

    def __init__(
        self,
        c: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        integer: ArrayLike,
        L: Floats,
        b: ArrayLike,
        threads: int,
    ) -> None:
        self.c = np.asarray(c, dtype=float)
        self.lower, self.upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        self.integer = np.broadcast_to(np.asarray(integer, dtype=bool), self.c.shape)
        self.L, self.b, self.threads = np.asarray(L, dtype=float), np.asarray(b, dtype=float), threads
        self.R, self.r = np.zeros((0, len(self.c))), np.zeros(0)
        self.W, self.d = np.zeros((len(self.b), 0)), np.zeros(0)

    def require(self, R: ArrayLike, r: ArrayLike) -> None:
        """Add the rows R z >= r."""
        self.R, self.r = np.vstack([self.R, clean(R)]), np.append(self.r, r)

    def exchange(self, W: ArrayLike, d: ArrayLike) -> None:
        """Put other columns λ in place of those that are there."""
        self.W, self.d = clean(W), clean(d)

    @property
    def rounding(self) -> float:
        """What the tolerances of the solver may hide in a value."""
        return 10 * self.tolerance * (1.0 + float(np.abs(self.d).max(initial=np.abs(self.c).max(initial=0.0))))

    @abstractmethod
    def solve(self, time_limit: float = math.inf) -> Optimum:
        """Solve to a gap of zero, or until the time is over."""

    def _optimum(self, y: ArrayLike, value: float, dual_bound: float) -> Optimum:
        split, columns = len(self.c), np.asarray(y, dtype=float)
        return Optimum("optimal", min(value, dual_bound) - self.rounding, columns[:split], columns[split:])

    def _stacked(self) -> tuple[Floats, Floats, Floats]:
        """All rows as lower <= A y <= upper with y = (z, λ)."""
        A = np.block([[self.L, self.W], [self.R, np.zeros((len(self.r), len(self.d)))]])
        return A, np.concatenate([self.b, self.r]), np.concatenate([self.b, np.full(len(self.r), np.inf)])

    def _boxes(self) -> tuple[Floats, Floats, Floats]:
        """Costs, lower and upper limits of y = (z, λ)."""
        costs, more = np.concatenate([self.c, self.d]), len(self.d)
        return costs, np.append(self.lower, np.zeros(more)), np.append(self.upper, np.full(more, np.inf))


class HighsProgramme(Programme):
    """HiGHS, changed in place.

    Presolve and primal heuristics are off: on programmes of a few dozen columns they take longer than the search.
    """

    tolerance = 1e-9
    options: ClassVar[dict[str, Any]] = {
        "output_flag": False,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": tolerance,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
        "small_matrix_value": 1e-12,
        "presolve": "off",
        "mip_detect_symmetry": False,
        "mip_heuristic_effort": 0.0,
        "mip_heuristic_run_feasibility_jump": False,
        "mip_heuristic_run_rins": False,
        "mip_heuristic_run_rens": False,
        "mip_heuristic_run_root_reduced_cost": False,
    }

    def __init__(self, *arrays: Any) -> None:
        super().__init__(*arrays)
        self._model: Any = None
        self._rows = 0  # of R that the model has
        self._exchanged = False

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_model": None}

    def exchange(self, W: ArrayLike, d: ArrayLike) -> None:
        """Put other columns λ in place of those that are there."""
        super().exchange(W, d)
        self._exchanged = True

    def solve(self, time_limit: float = math.inf) -> Optimum:
        """Solve to a gap of zero; the basis of one linear programme starts the next.

        A programme that HiGHS gives up, as happens from a bad basis, is built afresh, and then left to scipy.
        """
        found = self._attempt(time_limit)
        if found is None:
            self._model = None
            found = self._attempt(time_limit)
        return self._by_scipy(time_limit) if found is None else found

    def _attempt(self, time_limit: float) -> Optimum | None:
        import highspy

        model, is_mip = self._current_model(), bool(self.integer.any())
        if is_mip:
            run(model, time_limit)
        else:
            model.run()  # milliseconds; its time limit would count all runs of the model together
        status = model.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            info = model.getInfo()
            value = float(info.objective_function_value)
            bound = float(info.mip_dual_bound) if is_mip else value
            return self._optimum(model.getSolution().col_value, value, bound)
        if status == highspy.HighsModelStatus.kInfeasible:
            return Optimum("infeasible", math.inf)
        if status == highspy.HighsModelStatus.kTimeLimit:
            return Optimum("limit", -math.inf)
        return None

    def _by_scipy(self, time_limit: float) -> Optimum:
        """The same programme with scipy's setting of HiGHS, presolve included."""
        other = ScipyProgramme(self.c, self.lower, self.upper, self.integer, self.L, self.b, self.threads)
        other.require(self.R, self.r)
        other.exchange(self.W, self.d)
        return other.solve(time_limit)

    def _current_model(self) -> Any:
        if self._model is None:
            self._model, self._rows, self._exchanged = self._built(), len(self.r), False
            return self._model
        if len(self.r) > self._rows:
            rows = len(self.r) - self._rows
            R = self.R[self._rows :]
            self._model.addRows(rows, self.r[self._rows :], np.full(rows, np.inf), *compressed(R))
            self._rows = len(self.r)
        if self._exchanged:
            self._exchange_in_place()
        return self._model

    def _exchange_in_place(self) -> None:
        model, first, more = self._model, len(self.c), len(self.d)
        basis, had = model.getBasis(), model.getNumCol() - first
        model.deleteCols(had, np.arange(first, first + had, dtype=np.int32))
        model.addCols(more, self.d, np.zeros(more), np.full(more, np.inf), *compressed(self.W.T))
        if had == more and not self.integer.any():
            model.setBasis(basis)
        self._exchanged = False

    def _built(self) -> Any:
        import highspy

        model = highspy.Highs()
        for name, value in {**self.options, "threads": self.threads}.items():
            model.setOptionValue(name, value)
        A, row_lower, row_upper = self._stacked()
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = A.shape
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = self._boxes()
        lp.row_lower_, lp.row_upper_ = row_lower, row_upper
        entries, starts, indices, values = compressed(A.T)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = np.append(starts, entries), indices, values
        if self.integer.any():
            kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
            lp.integrality_ = [kinds[int(whole)] for whole in self.integer] + [kinds[0]] * len(self.d)
        model.passModel(lp)
        return model


class ScipyProgramme(Programme):
    """``scipy.optimize.milp``, built anew each time and with scipy's fixed tolerances."""

    tolerance = 1e-7

    def solve(self, time_limit: float = math.inf) -> Optimum:
        """Solve to a gap of zero, or until the time is over."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        costs, lower, upper = self._boxes()
        found = milp(
            costs,
            integrality=np.append(self.integer, np.zeros(len(self.d))),
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(*self._stacked()),
            options={"mip_rel_gap": 0.0, **({} if math.isinf(time_limit) else {"time_limit": time_limit})},
        )
        if found.status == 0:
            bound = found.fun if found.mip_dual_bound is None else found.mip_dual_bound
            return self._optimum(found.x, float(found.fun), float(bound))
        if found.status == 2:
            return Optimum("infeasible", math.inf)
        if found.status == 1:
            return Optimum("limit", -math.inf)
        raise RuntimeError(f"no solver could treat a programme: {found.message}")


class ScipProgramme(Programme):
    """SCIP, built anew each time; needs ``pip install dsprog[scip]``."""

    tolerance = 1e-9

    def solve(self, time_limit: float = math.inf) -> Optimum:
        """Solve to a gap of zero, or until the time is over."""
        from pyscipopt import Model, quicksum

        model = Model()
        model.hideOutput()
        model.setParams({"limits/gap": 0.0, "limits/absgap": 0.0, "numerics/feastol": self.tolerance})
        if not math.isinf(time_limit):
            model.setParam("limits/time", max(time_limit, 0.0))
        costs, lower, upper = self._boxes()
        kinds = ["I" if whole else "C" for whole in self.integer] + ["C"] * len(self.d)
        limits = zip(kinds, lower.tolist(), upper.tolist(), costs.tolist())
        y = [
            model.addVar(vtype=kind, lb=None if math.isinf(a) else a, ub=None if math.isinf(z) else z, obj=cost)
            for kind, a, z, cost in limits
        ]
        for row, a, z in zip(*self._stacked()):
            total = quicksum(float(row[j]) * y[j] for j in np.flatnonzero(row))
            model.addCons(total == float(a) if a == z else total >= float(a))
        model.optimize()
        status = model.getStatus()
        if status == "optimal":
            return self._optimum([model.getVal(v) for v in y], model.getObjVal(), model.getDualbound())
        if status == "infeasible":
            return Optimum("infeasible", math.inf)
        if status == "timelimit":
            return Optimum("limit", -math.inf)
        if status == "userinterrupt":
            raise KeyboardInterrupt
        raise RuntimeError(f"SCIP could not treat a programme: {status}")


BACKENDS: dict[str, type[Programme]] = {"highs": HighsProgramme, "scipy": ScipyProgramme, "scip": ScipProgramme}
PACKAGES = {"highs": "highspy", "scipy": "scipy", "scip": "pyscipopt"}


def programme(
    c: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    integer: ArrayLike,
    L: Floats,
    b: ArrayLike,
    backend: str | None = None,
    threads: int = 1,
) -> Programme:
    """A programme without columns λ and rows R yet.

    Parameters
    ----------
    c, lower, upper : (m,) arrays
        Costs and box of z.
    integer : bool or (m,) booleans
        Which of z are whole numbers.
    L, b : arrays
        Left and right side of L z + W λ = b.
    backend : {"highs", "scipy", "scip"}, optional
        HiGHS by default; scipy, with a warning, where highspy cannot be imported.
    threads : int
        Of HiGHS.
    """
    if backend is None:
        backend = "highs" if importable("highs") else "scipy"
        if backend == "scipy":
            message = "highspy cannot be imported, so scipy solves the programmes, more slowly: pip install highspy"
            warnings.warn(message, stacklevel=2)
    elif backend not in BACKENDS:
        raise ValueError(f"backend must be {', '.join(BACKENDS)} or None, got {backend!r}")
    elif not importable(backend):
        raise ImportError(f"backend {backend!r} needs a package that is not there: pip install {PACKAGES[backend]}")
    return BACKENDS[backend](c, lower, upper, integer, L, b, threads)


def importable(backend: str) -> bool:
    """Whether the package of a backend can be imported."""
    import importlib

    try:
        importlib.import_module(PACKAGES[backend])
    except ImportError:
        return False
    return True


def clean(numbers: ArrayLike) -> Floats:
    """Without digits that are rounding, far below the tolerances: HiGHS stumbles over costs such as 1e-16."""
    return np.round(np.asarray(numbers, dtype=float), 12)


def compressed(rows: Floats) -> tuple[int, Any, Any, Floats]:
    """The entries of a matrix row by row: their number, where each row starts, columns, values."""
    row, column = np.nonzero(rows)
    starts = np.searchsorted(row, np.arange(len(rows))).astype(np.int32)
    return len(row), starts, column.astype(np.int32), rows[row, column]


def run(model: Any, time_limit: float) -> None:
    """Run HiGHS so that Ctrl-C works: in this thread while it is quick, else again in one that can be cancelled."""
    import highspy

    model.setOptionValue("time_limit", max(0.0, min(time_limit, PATIENCE)))
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kTimeLimit or time_limit <= PATIENCE:
        return
    model.setOptionValue("time_limit", time_limit - PATIENCE)
    if was_cancelled(model):
        raise KeyboardInterrupt


def was_cancelled(model: Any) -> bool:
    """Run HiGHS in a thread; Ctrl-C cancels it, and the answer says whether that happened."""
    model.HandleUserInterrupt = True
    model.startSolve()
    try:
        while not model.wait(0.1)[0]:
            pass
    except KeyboardInterrupt:
        model.cancelSolve()
        model.wait()
        return True
    finally:
        model.HandleUserInterrupt = False
    return False
