"""What :func:`dsprog.applications.minimize_labels` returns: a labelling, its energy, and how much of it is proved."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from dsprog.core.labels import Labels
from dsprog.core.validation import Ints
from dsprog.pictures.html import badge, facts
from dsprog.run.result import relative_gap
from dsprog.solve.minimize import LAST_PLACES

SENTENCES = {
    "optimal": "Proved optimal: no labelling has a smaller energy.",
    "gap": "Ended with the gap that lower_bound leaves: ask for a smaller one, or for none.",
    "time_limit": "Stopped at the time limit: raise time_limit, or accept a gap.",
    "interrupted": "Interrupted: the best labelling so far, with the bound proved so far.",
    "finished": "The search went as deep as it may, and its bound leaves a gap: accept one.",
}


@dataclass(frozen=True)
class LabelResult:
    """A labelling and its certificate.

    Attributes
    ----------
    labels : array of int
        The label of each site, a column of ``unary``.
    energy : float
        Its energy, recomputed from the data at the end.
    lower_bound : float
        Proved: no labelling has a smaller energy.
    status : str
        Why the run stopped: optimal, gap, time_limit, interrupted, finished.
    certified : bool
        Whether it is proved that no labelling is better (by more than rounding, or the gap asked for).
    message : str
        A sentence that says what happened and what to do.
    rounds, moves, nodes, seconds
        What it cost: rounds of sweeps and fusions, fusions that improved the labelling, nodes of the search.
    """

    labels: Ints
    energy: float
    lower_bound: float
    status: str
    certified: bool
    message: str
    rounds: int
    moves: int
    nodes: int
    seconds: float
    site_names: Labels | None = field(default=None, repr=False)
    label_names: Labels | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """The distance between energy and bound, relative to |energy|."""
        return relative_gap(self.energy, self.lower_bound)

    @property
    def assignment(self) -> dict[Hashable, Hashable]:
        """The name of each site's label, by the name of the site; numbers where there are no names."""
        sites = range(len(self.labels)) if self.site_names is None else self.site_names
        names: Any = self.label_names
        return {i: int(a) if names is None else names[a] for i, a in zip(sites, self.labels)}

    def _rows(self) -> dict[str, str]:
        """What is shown of it: names and words."""
        return {
            "labels": f"{len(self.labels):,} sites",
            "energy": f"{self.energy:.10g}",
            "lower bound": f"{self.lower_bound:.10g}  (gap {self.gap:.2g})",
            "certified": "yes" if self.certified else "no",
            "status": f"{self.status}. {self.message}",
            "cost": f"{self.seconds:.3g} s, {self.rounds} rounds, {self.moves} moves, {self.nodes:,} nodes",
        }

    def __str__(self) -> str:
        return "\n".join(f"{name:>12}  {text}" for name, text in self._rows().items())

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        rows = {name: escape(text) for name, text in self._rows().items()}
        rows["certified"] = badge("proved" if self.certified else "not proved", self.certified)
        return facts("Labelling", rows)


def sentence(status: str, energy: float, lower: float) -> str:
    """What happened, and no more than is proved."""
    if status == "optimal" and energy - lower > LAST_PLACES * max(abs(energy), abs(lower)):
        return f"Proved optimal up to rounding: no labelling has an energy smaller by more than {energy - lower:.2g}."
    return SENTENCES[status]
