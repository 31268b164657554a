"""What every experiment needs: rows that are saved as they come and found again, and one style of figure."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Rows:
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
    >>> rows = Rows(Path(tempfile.mkdtemp()) / "rows.csv", key=["n"])
    >>> rows.append({"n": 3, "seconds": 0.5})
    >>> Rows(rows.path, key=["n"]).has({"n": 3}), rows.has({"n": 4})
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


def plotting() -> Any:
    """``matplotlib.pyplot``, drawing to files, in the style of all figures."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError("drawing needs matplotlib, which is not there: pip install dsprog[plot]") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "figure.dpi": 150,
            "figure.constrained_layout.use": True,
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "0.9",
            "grid.linewidth": 0.6,
            "axes.axisbelow": True,
            "axes.titlesize": 9,
            "legend.frameon": False,
        }
    )
    return plt


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # distinct to colour-blind eyes, too
