"""Rows that are saved as they come, and found again by the next run."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class SavedRows:
    """A CSV file that grows by a row at a time; a second run skips the rows that are there.

    Parameters
    ----------
    path : Path
        The file; its folder is made.
    key : iterable of str
        The columns that name a row.

    Examples
    --------
    >>> import tempfile
    >>> rows = SavedRows(Path(tempfile.mkdtemp()) / "rows.csv", key=["n"])
    >>> rows.append({"n": 3, "seconds": 0.5})
    >>> SavedRows(rows.path, key=["n"]).has({"n": 3}), rows.has({"n": 4})
    (True, False)
    """

    def __init__(self, path: Path, key: Iterable[str]) -> None:
        self.path, self.key = path, tuple(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.rows: list[Row] = []
        if path.exists():
            with open(path, newline="") as file:
                self.rows = [{name: parsed(text) for name, text in row.items()} for row in csv.DictReader(file)]
        self._seen = {self._name(row) for row in self.rows}

    def has(self, row: Row) -> bool:
        """Whether a row of this name is there."""
        return self._name(row) in self._seen

    def append(self, row: Row) -> None:
        """Save a row at once."""
        is_new = not self.path.exists()
        with open(self.path, "a", newline="") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append(row)
        self._seen.add(self._name(row))

    def _name(self, row: Row) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in self.key)


def parsed(text: str) -> str | int | float:
    """A cell as a number if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def write_rows(path: Path, rows: Sequence[Row], columns: Iterable[str] | None = None) -> Path:
    """Write rows that are all there as CSV; by default with every column that one of them has."""
    every = dict.fromkeys(name for row in rows for name in row)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(every if columns is None else columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path
