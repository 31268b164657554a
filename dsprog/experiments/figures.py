"""One style of figure for all experiments; matplotlib is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # distinct to colour-blind eyes, too
STYLE: dict[Any, Any] = {
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


def plotting() -> Any:
    """``matplotlib.pyplot``, drawing to files, in the style of all figures."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError("drawing needs matplotlib, which is not there: pip install dsprog[plot]") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(STYLE)
    return plt


def labelled_panels(count: int, width: float, height: float, labels: Sequence[str]) -> tuple[Any, Sequence[Any]]:
    """A figure of panels side by side, with the same words down their left edge, the first on top."""
    figure, axes = plotting().subplots(1, count, figsize=(width, height), sharey=True, squeeze=False)
    axes[0, 0].set_yticks(range(len(labels)), list(labels))
    axes[0, 0].invert_yaxis()
    return figure, axes[0]


def saved(figure: Any, path: Path) -> Path:
    """Write a figure and forget it."""
    figure.savefig(path)
    plotting().close(figure)
    return path
