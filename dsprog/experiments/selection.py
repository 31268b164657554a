"""One data set, one weight, one method: the row that Figure 2 and Table 1 are made of.

X is n by p of standard Gaussians, k of the p weights are standard Gaussians, signal and noise have equal power. Errors
are squared and in units of ‖y‖² of their rows; validation and test rows are fresh draws from the same model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsprog.applications.features.recipes import feature_selection_objective, supermodular_reading
from dsprog.approximate.greedy import Greedy
from dsprog.approximate.ssp import SSP
from dsprog.core.algebra import Difference
from dsprog.core.validation import Floats
from dsprog.exact.prismatic.prismatic import Prismatic
from dsprog.experiments.rows import Row
from dsprog.generators import sparse_linear_model
from dsprog.run.result import Event
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize

METHODS = ("exact", "prism", "ssp", "greedy", "lasso")
LABELS = {"exact": "exact", "prism": "PRISM", "ssp": "SSP", "greedy": "greedy", "lasso": "lasso"}
MARKERS = {"exact": "o", "prism": "s", "ssp": "^", "greedy": "D", "lasso": "v"}
FRESH = 100  # validation rows, and test rows


@dataclass(frozen=True)
class Setting:
    """Sizes of the data, and CPU seconds for the exact method; PRISM, which never ends at these sizes, gets a sixth.

    CPU seconds, so that rows measured beside other work can be compared.
    """

    p: int = 120
    n: int = 150
    time_limit: float = 60.0


@dataclass(frozen=True)
class Data:
    """Training, validation and test rows."""

    X: Floats
    y: Floats
    validation: tuple[Floats, Floats]
    test: tuple[Floats, Floats]

    @classmethod
    def draw(cls, setting: Setting, k: int, seed: int) -> Data:
        """The data set of a seed."""
        rng = np.random.default_rng(seed)
        X, y, w, sigma = sparse_linear_model(rng, setting.n, setting.p, k)

        def fresh() -> tuple[Floats, Floats]:
            Z = rng.standard_normal((FRESH, setting.p))
            return Z, Z @ w + sigma * rng.standard_normal(FRESH)

        return cls(X, y, fresh(), fresh())

    def errors(self, w: Floats) -> Row:
        """Squared errors of a model in units of ‖y‖²."""
        parts = {"train": (self.X, self.y), "validation": self.validation, "test": self.test}
        return {f"{name}_error": float(((y - X @ w) ** 2).sum() / (y @ y)) for name, (X, y) in parts.items()}


def measured(setting: Setting, cell: Row) -> Row:
    """Run a method on a data set; everything in the row is computed again from the returned set."""
    data = Data.draw(setting, cell["k"], cell["seed"])
    if cell["method"] == "lasso":
        return {**cell, **lasso_row(data, cell["lam"])}
    objective = feature_selection_objective(data.X, data.y, cell["lam"])
    given, solver, limit = method_of(cell["method"], objective, setting.time_limit)
    started, cpu = time.perf_counter(), time.process_time()
    start = approximate(objective) if cell["method"] == "exact" else None
    result = minimize(given, solver, initial=start, callback=stop_after(cpu + limit), seed=cell["seed"])
    cost = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}
    w, S = np.zeros(setting.p), list(result.S)
    w[S] = np.linalg.lstsq(data.X[:, S], data.y, rcond=None)[0]
    proof = {"lower_bound": result.lower_bound, "gap": result.gap, "certified": result.certified}
    status = "time_limit" if result.status == "callback" else result.status
    answer = {"size": len(S), "value": objective(S), **proof, "status": status, "nodes": result.nodes}
    return {**cell, **data.errors(w), **cost, **answer}


def approximate(objective: Difference) -> tuple[int, ...]:
    """The better of what SSP and greedy find."""
    found = [minimize(supermodular_reading(objective), SSP(restarts=1)), minimize(objective, Greedy())]
    return min(found, key=lambda result: result.value).S


def stop_after(end: float) -> Callable[[Event], bool]:
    """A callback that stops a run when the process has used so many CPU seconds."""
    return lambda event: time.process_time() >= end


def method_of(name: str, objective: Difference, time_limit: float) -> tuple[Difference, Solver | None, float]:
    """The objective in the form that a method takes, its solver and its CPU seconds."""
    if name == "exact":
        return objective, None, time_limit
    if name == "greedy":
        return objective, Greedy(), time_limit
    if name == "ssp":
        return supermodular_reading(objective), SSP(restarts=1), time_limit
    return supermodular_reading(objective), Prismatic(), time_limit / 6


def lasso_row(data: Data, alpha: float) -> Row:
    """The lasso itself, as a model of its own."""
    from sklearn.linear_model import Lasso

    started, cpu = time.perf_counter(), time.process_time()
    w: Any = Lasso(alpha=alpha, fit_intercept=False, max_iter=10_000).fit(data.X, data.y).coef_
    cost = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}
    nothing = {"value": np.nan, "lower_bound": -np.inf, "gap": np.inf, "certified": False}
    return {**data.errors(w), **cost, "size": int((w != 0).sum()), **nothing, "status": "finished", "nodes": 0}


def certified(rows: Iterable[Row]) -> int:
    """How many rows are certified; rows that were read from a file have words for truth."""
    return sum(str(row["certified"]) == "True" for row in rows)


def gap_text(rows: Iterable[Row]) -> str:
    """The median gap in words."""
    gap = float(np.median([row["gap"] for row in rows]))
    return "no bound" if np.isinf(gap) else "0 %" if gap < 1e-6 else f"{100 * gap:.2g} %"


def warm_up(methods: Iterable[str]) -> None:
    """Run each method once on a small problem, so that no row pays for compilation."""
    for method in methods:
        measured(Setting(6, 12, 1.0), {"k": 2, "seed": 0, "lam": 0.03, "method": method})


def single_thread() -> Any:
    """Linear algebra on one thread: small matrices, and times that can be compared."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
