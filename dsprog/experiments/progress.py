"""Run the cells of an experiment that are not there yet, with an estimate of the time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from dsprog.experiments.saved_rows import Row, SavedRows

Say = Callable[[str], object]  # where lines of progress go


def run_missing(
    rows: SavedRows,
    cells: Sequence[Row],
    measure: Callable[[Row], Row],
    say: Say = print,
    warm_up: Callable[[], object] = lambda: None,
    n_jobs: int | None = None,
    together: Sequence[str] = (),
) -> None:
    """Measure and save each cell that ``rows`` does not have; a run that was stopped goes on where it was.

    A cell has the columns that name a row, ``measure`` gives the others; ``warm_up`` is called first if any is missing.
    With several ``n_jobs``, as scikit-learn counts them, processes measure beside each other; cells that agree in the
    columns ``together`` stay in one process and in order.

    >>> import tempfile
    >>> from pathlib import Path
    >>> rows = SavedRows(Path(tempfile.mkdtemp()) / "rows.csv", key=["n"])
    >>> run_missing(rows, [{"n": 3}], lambda cell: {"square": cell["n"] ** 2}, say=lambda line: None)
    >>> rows.rows
    [{'n': 3, 'square': 9}]
    """
    missing = [cell for cell in cells if not rows.has(cell)]
    if len(missing) < len(cells):
        say(f"{len(cells) - len(missing)} of {len(cells)} rows are there already, with the limits of their run")
    if missing:
        warm_up()
    began = time.perf_counter()
    for done, (row, seconds) in enumerate(measured_rows(rows, missing, measure, n_jobs, together), 1):
        rows.append(row)
        left = (time.perf_counter() - began) / done * (len(missing) - done)
        name = " ".join(f"{key}={row[key]}" for key in rows.key)
        say(f"[{done}/{len(missing)}] {name}: {seconds:.2f} s; about {duration(left)} left")


def measured_rows(
    rows: SavedRows, cells: Sequence[Row], measure: Callable[[Row], Row], n_jobs: int | None, together: Sequence[str]
) -> Iterator[tuple[Row, float]]:
    """Rows as they come, each with its seconds."""
    if n_jobs in (None, 1):
        for cell in cells:
            yield timed(measure, cell)
        return
    from joblib import Parallel, delayed

    groups: dict[object, list[Row]] = {}
    for k, cell in enumerate(cells):
        groups.setdefault(tuple(cell[name] for name in together) or k, []).append(cell)
    jobs = (delayed(measured_group)(rows, measure, group) for group in groups.values())
    for found in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
        yield from found


def measured_group(rows: SavedRows, measure: Callable[[Row], Row], cells: list[Row]) -> list[tuple[Row, float]]:
    """Cells in order, in another process, where ``measure`` sees the rows of those before."""
    found = []
    for cell in cells:
        found.append(timed(measure, cell))
        rows.rows.append(found[-1][0])
    return found


def timed(measure: Callable[[Row], Row], cell: Row) -> tuple[Row, float]:
    """A row and its seconds."""
    started = time.perf_counter()
    return {**cell, **measure(cell)}, time.perf_counter() - started


def duration(seconds: float) -> str:
    """A length of time in words.

    >>> duration(75), duration(8000)
    ('1.2 min', '2.2 h')
    """
    for limit, unit, name in ((60.0, 1.0, "s"), (3600.0, 60.0, "min")):
        if seconds < limit:
            return f"{seconds / unit:.0f} s" if name == "s" else f"{seconds / unit:.1f} {name}"
    return f"{seconds / 3600:.1f} h"
