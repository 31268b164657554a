"""Run the cells of an experiment that are not there yet, with an estimate of the time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from dsprog.experiments.saved_rows import Row, SavedRows

Say = Callable[[str], object]  # where lines of progress go


def run_missing(
    rows: SavedRows,
    cells: Sequence[Row],
    measure: Callable[[Row], Row],
    say: Say = print,
    warm_up: Callable[[], object] = lambda: None,
) -> None:
    """Measure and save each cell that ``rows`` does not have; a run that was stopped goes on where it was.

    A cell has the columns that name a row, ``measure`` gives the others; ``warm_up`` is called first if any is missing.

    >>> import tempfile
    >>> from pathlib import Path
    >>> rows = SavedRows(Path(tempfile.mkdtemp()) / "rows.csv", key=["n"])
    >>> run_missing(rows, [{"n": 3}], lambda cell: {"square": cell["n"] ** 2}, say=lambda line: None)
    >>> rows.rows
    [{'n': 3, 'square': 9}]
    """
    missing = [cell for cell in cells if not rows.has(cell)]
    if len(missing) < len(cells):
        say(f"{len(cells) - len(missing)} of {len(cells)} rows are there already")
    if missing:
        warm_up()
    began = time.perf_counter()
    for done, cell in enumerate(missing, 1):
        started = time.perf_counter()
        rows.append({**cell, **measure(cell)})
        now = time.perf_counter()
        left = (now - began) / done * (len(missing) - done)
        name = " ".join(f"{key}={cell[key]}" for key in rows.key)
        say(f"[{done}/{len(missing)}] {name}: {now - started:.2f} s; about {duration(left)} left")


def duration(seconds: float) -> str:
    """A length of time in words.

    >>> duration(75), duration(8000)
    ('1.2 min', '2.2 h')
    """
    for limit, unit, name in ((60.0, 1.0, "s"), (3600.0, 60.0, "min")):
        if seconds < limit:
            return f"{seconds / unit:.0f} s" if name == "s" else f"{seconds / unit:.1f} {name}"
    return f"{seconds / 3600:.1f} h"
