"""A picture of who did what: for each worker of a result its share of the work, and how long it waited."""

from __future__ import annotations

from pathlib import Path

from dsprog.experiments.figures import COLOURS, labelled_panels, saved
from dsprog.run.result import Result


def draw_workers(result: Result, path: str | Path) -> Path:
    """Bars of nodes, and of the time with and without work, for a result that workers shared.

    >>> import dsprog as ds
    >>> draw_workers(ds.minimize(ds.Modular([1.0])), "workers.png")
    Traceback (most recent call last):
    ...
    ValueError: result must be one that workers shared: this one has no workers
    """
    if not result.workers:
        raise ValueError("result must be one that workers shared: this one has no workers")
    shares = result.workers
    figure, (nodes, time) = labelled_panels(2, 7.0, 0.9 + 0.25 * len(shares), [share.name for share in shares])
    places = range(len(shares))
    nodes.barh(places, [share.nodes for share in shares], color=COLOURS[0])
    nodes.set_xlabel("nodes")
    time.barh(places, [1.0 - share.idle for share in shares], color=COLOURS[2], label="work")
    time.barh(places, [share.idle for share in shares], left=[1.0 - s.idle for s in shares], color="0.85", label="wait")
    time.set_xlabel("part of the time")
    time.legend(loc="lower left", fontsize=7)
    return saved(figure, Path(path))
