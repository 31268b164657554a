"""What Figure 2 and Table 1 have in common: a row is one data set, one weight, one method.

X is n by p of standard Gaussians, k of the p weights are standard Gaussians, signal and noise have equal power. Errors
are squared and in units of ‖y‖² of their rows; validation and test rows are fresh draws from the same model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.applications.features.recipes import feature_selection_objective
from dsprog.applications.features.selection_methods import select_by
from dsprog.core.algebra import Difference
from dsprog.core.validation import Floats
from dsprog.experiments.page import Html, picture, write_page
from dsprog.experiments.progress import Say, run_missing
from dsprog.experiments.saved_rows import Row, SavedRows
from dsprog.generators import sparse_linear_model
from dsprog.run.result import Event

KEY = ("k", "seed", "lam", "method")
LAMS = (0.1, 0.05, 0.03, 0.02, 0.01)
LABELS = {"exact": "exact", "prism": "PRISM", "ssp": "SSP", "greedy": "greedy", "lasso": "lasso"}
MARKERS = {"exact": "o", "prism": "s", "ssp": "^", "greedy": "D", "lasso": "v"}
FRESH = 100  # validation rows, and test rows


@dataclass(frozen=True)
class SelectionSetting:
    """Sizes of the data, and CPU seconds for the exact method; PRISM, which never ends at these sizes, gets a sixth.

    CPU seconds, so that rows measured beside other work can be compared. ``device`` is that of the exact method.
    """

    p: int = 120
    n: int = 150
    time_limit: float = 60.0
    device: str = "cpu"


@dataclass(frozen=True)
class SelectionData:
    """Training, validation and test rows."""

    X: Floats
    y: Floats
    validation: tuple[Floats, Floats]
    test: tuple[Floats, Floats]

    @classmethod
    def draw(cls, setting: SelectionSetting, k: int, seed: int) -> SelectionData:
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


@dataclass(frozen=True)
class SelectionExperiment:
    """An experiment on feature selection: which rows it wants, and what it makes of them.

    ``cells(quick, datasets, methods)`` names the rows, ``draw(rows, path)`` makes the figure, and
    ``report(rows, figure, setting)`` the parts of the page, which has the figure in it.
    """

    name: str
    title: str
    datasets: int
    methods: tuple[str, ...]
    cells: Callable[[bool, int, Sequence[str]], list[Row]]
    draw: Callable[[list[Row], Path], Path]
    report: Callable[[list[Row], Html, SelectionSetting], list[Html]]

    def reproduce(
        self,
        out: Path,
        quick: bool = False,
        time_limit: float = 60.0,
        say: Say = print,
        datasets: int | None = None,
        methods: str | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> tuple[Path, ...]:
        """Run what is missing, save each row as it comes, draw. Returns the paths of rows, figure and page."""
        whole = SelectionSetting(time_limit=time_limit, device=device)
        setting = SelectionSetting(16, 30, min(time_limit, 3.0), device) if quick else whole
        names = self.methods if methods is None else checked_methods(methods)
        cells = self.cells(quick, self.datasets if datasets is None else datasets, names)
        rows = SavedRows(out / f"{self.name}.csv", KEY)
        with single_thread():
            run_missing(rows, cells, lambda cell: measured(setting, cell), say, lambda: warm_up(names, setting), n_jobs)
        figure = self.draw(rows.rows, out / f"{self.name}.png")
        return rows.path, figure, self.page(rows.rows, figure, setting)

    def page(self, rows: list[Row], figure: Path, setting: SelectionSetting) -> Path:
        """Write the page beside the figure."""
        parts = self.report(rows, picture(figure, self.title), setting)
        return write_page(figure.with_suffix(".html"), self.title, parts)


def checked_methods(names: str) -> tuple[str, ...]:
    """The methods in a list with commas."""
    listed = tuple(name.strip() for name in names.split(","))
    for name in listed:
        if name not in LABELS:
            raise ValueError(f"methods must be among {', '.join(LABELS)}, got {name!r}")
    return listed


def methods_in(rows: Iterable[Row]) -> list[str]:
    """The methods there are rows of, in the usual order."""
    there = {row["method"] for row in rows}
    return [method for method in LABELS if method in there]


def draw_line(axis: Any, x: Any, y: Any, method: str, colour: str) -> None:
    """The line of a method."""
    axis.plot(x, y, f"{MARKERS[method]}-", color=colour, label=LABELS[method], markersize=4)


def measured(setting: SelectionSetting, cell: Row) -> Row:
    """Run a method on a data set; everything in the row is computed again from the returned set."""
    data = SelectionData.draw(setting, cell["k"], cell["seed"])
    if cell["method"] == "lasso":
        return lasso_row(data, cell["lam"])
    objective = feature_selection_objective(data.X, data.y, cell["lam"])
    limit = setting.time_limit / 6 if cell["method"] == "prism" else setting.time_limit
    started, cpu = time.perf_counter(), time.process_time()
    start = approximate(objective) if cell["method"] == "exact" else None
    limits: Row = {"callback": stop_after(cpu + limit), "seed": cell["seed"]}
    result = select_by(cell["method"], objective, start, setting.device, **limits)
    cost = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}
    w, S = np.zeros(setting.p), list(result.S)
    w[S] = np.linalg.lstsq(data.X[:, S], data.y, rcond=None)[0]
    proof = {"lower_bound": result.lower_bound, "gap": result.gap, "certified": result.certified}
    status = "time_limit" if result.status == "callback" else result.status
    answer = {"size": len(S), "value": objective(S), **proof, "status": status, "nodes": result.nodes}
    return {**data.errors(w), **cost, **answer}


def approximate(objective: Difference) -> tuple[int, ...]:
    """The better of what SSP and greedy find."""
    return min((select_by(method, objective) for method in ("ssp", "greedy")), key=lambda result: result.value).S


def stop_after(end: float) -> Callable[[Event], bool]:
    """A callback that stops a run when the process has used so many CPU seconds."""
    return lambda event: time.process_time() >= end


def limits_sentence(setting: SelectionSetting) -> str:
    """What stops the methods; rows that were there before keep their limits."""
    limit = setting.time_limit
    return (
        f"The exact method is stopped after {limit:g} CPU s a problem, PRISM after an iteration of its own that ends "
        f"beyond {limit / 6:g}; rows that an earlier run has made, after what was asked for then."
    )


def lasso_row(data: SelectionData, alpha: float) -> Row:
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


def warm_up(methods: Iterable[str], setting: SelectionSetting) -> None:
    """Run each method once on a small problem, so that no row pays for compilation; a card compiles for the size."""
    small = SelectionSetting(6, 12, 1.0)
    for method in methods:
        there = method == "exact" and setting.device != "cpu"
        measured(setting if there else small, {"k": 2, "seed": 0, "lam": 0.03, "method": method})


def single_thread() -> Any:
    """Linear algebra on one thread: small matrices, and times that can be compared."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
