"""A performance profile: the share of instances that a solver has proved within some CPU seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dsprog.experiments.figures import COLOURS, plotting, saved
from dsprog.experiments.saved_rows import Row


def draw_profile(rows: list[Row], path: Path) -> Path:
    """A panel for the instances that all solvers have run, and one for all, with the solvers that have run them all."""
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    ran = {solver: {row["instance"] for row in rows if row["solver"] == solver} for solver in solvers}
    shared, every = set.intersection(*ran.values()), set.union(*ran.values())
    panels = [shared] if shared == every else [shared, every]
    figure, axes = plotting().subplots(
        1, len(panels), figsize=(3.6 * len(panels) + 0.6, 3.2), sharey=True, squeeze=False
    )
    for axis, chosen in zip(axes[0], panels):
        for solver, colour in zip(solvers, COLOURS):
            if chosen <= ran[solver]:
                mine = [row for row in rows if row["solver"] == solver and row["instance"] in chosen]
                curve(axis, mine, solver, colour)
        axis.set(xscale="log", xlabel="CPU seconds", ylim=(0, 1.02), title=f"{len(chosen)} instances")
        axis.legend(loc="lower right")
    axes[0, 0].set_ylabel("share proved")
    return saved(figure, path)


def curve(axis: Any, rows: list[Row], label: str, colour: str) -> None:
    """Steps up at every proof, on to the longest run."""
    seconds = np.sort([max(row["seconds"], 1e-3) for row in rows if row["proved"]])
    longest = max(max(row["seconds"], 1e-3) for row in rows)
    share = np.arange(1, len(seconds) + 1) / len(rows)
    ends = np.append(share, share[-1] if len(share) else 0.0)
    axis.step(np.append(seconds, longest), ends, where="post", label=label, color=colour)
