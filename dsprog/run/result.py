"""What a solver returns: a set, its value, and how much of it is proved."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.core.labels import Labels
from dsprog.core.validation import Masks, as_mask
from dsprog.pictures.curves import draw_run
from dsprog.pictures.html import badge, facts

STATUSES = {
    "optimal": "Proved optimal: no feasible set has a smaller value.",
    "gap": "Ended with the gap that lower_bound leaves: ask for a smaller one, or for none.",
    "finished": "The search ended, but its bounds are not proved: {reason}.",
    "local": "A local optimum, with no bound: {reason}; use the default solver for a proof.",
    "time_limit": "Stopped at the time limit: raise time_limit, or accept a gap.",
    "node_limit": "Stopped at the node limit: raise node_limit, or accept a gap.",
    "interrupted": "Interrupted: the best set so far, with the bound proved so far.",
    "callback": "Stopped by the callback.",
    "infeasible": "No set satisfies the constraints: relax one of them.",
}


def relative_gap(value: float, lower_bound: float) -> float:
    """(value - lower_bound) / |value|: 0 if they meet, infinite if one is missing, or if value is 0 and they do not."""
    if not (math.isfinite(value) and math.isfinite(lower_bound)):
        return math.inf
    if value <= lower_bound:
        return 0.0
    return (value - lower_bound) / abs(value) if value != 0 else math.inf


def finite(value: Any) -> Any:
    """A value as it is, or None for an infinite number, which JSON does not have."""
    return None if isinstance(value, float) and math.isinf(value) else value


@dataclass(frozen=True)
class Verdict:
    """How a solver ended: one of :data:`STATUSES`, how its bound was proved, and, if it was not, the reason.

    ``within`` is the distance between value and bound that the solver was told to accept, where it has such an option.
    """

    status: str
    proof: str = ""
    reason: str = ""
    within: float = 0.0


@dataclass(frozen=True)
class Staff:
    """The workers at one moment: how many are there, nodes a second of all, and which part of the time they work."""

    workers: int
    rate: float
    efficiency: float


@dataclass(frozen=True)
class WorkerShare:
    """What one worker did: nodes, units, seconds of clock and CPU of work, and which part of the time it had none."""

    name: str
    nodes: int
    units: int
    seconds: float
    cpu: float
    idle: float


@dataclass(frozen=True)
class Event:
    """One moment of a run, as callbacks and the trace have it; ``cuts`` counts cutting planes where there are any, and
    ``staff`` says how many workers share the search, where several do.

    >>> import dsprog as ds
    >>> events = []
    >>> _ = ds.minimize(ds.Modular([1.0, -1.0]), callback=events.append)
    >>> events[-1].value
    -1.0
    """

    seconds: float
    nodes: int
    open: int
    value: float
    lower_bound: float
    source: str
    cuts: int | None = None
    staff: Staff | None = None

    @property
    def gap(self) -> float:
        """Relative gap at that moment."""
        return relative_gap(self.value, self.lower_bound)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data; infinite numbers become None."""
        fields = {name: finite(entry) for name, entry in vars(self).items()}
        return fields | {"staff": None if self.staff is None else vars(self.staff)}


@dataclass(frozen=True)
class Result:
    """A set and its certificate.

    Attributes
    ----------
    S : tuple of int
        The best set found, sorted.
    value : float
        Its value, recomputed from the functions at the end; infinite if no feasible set was found.
    lower_bound, upper_bound : float
        Between these lies the optimum. Of a minimum the upper one is the value, and the lower one is what is proved,
        -inf where nothing is; of a maximum it is the other way round.
    status : str
        Why the run stopped: optimal, gap, finished, local, time_limit, node_limit, interrupted, callback, infeasible.
    certified : bool
        Whether it is proved that no feasible set is better (by more than the gap asked for).
    message : str
        A sentence that says what happened and what to do.
    solver : str
        Who solved it; several names where its parts went to several.
    proof : str
        How the bound was proved.
    presolve : str
        What was taken out beforehand, or why nothing was.
    nodes, seconds, oracle_calls
        What it cost; a row of marginals, or a chain, counts as as many oracle calls as it is long.
    trace : tuple of Event
        Improvements and progress in order of time; of a maximum those of the minimised negative.
    n, names
        Size of the ground set, and the names of all its elements if they have any.
    maximised : bool
        Whether it is a maximum.
    workers : tuple of WorkerShare
        Nodes, units, seconds and idle share of each worker, where several shared the search.

    Examples
    --------
    >>> import dsprog as ds
    >>> result = ds.minimize(ds.Modular([1.0, -1.0], labels=["bread", "wine"]))
    >>> result.S, result.value, result.gap, result.status
    ((1,), -1.0, 0.0, 'optimal')
    >>> result.labels, result.mask, result.x
    (('wine',), array([False,  True]), array([0, 1]))
    """

    S: tuple[int, ...]
    value: float
    lower_bound: float
    status: str
    certified: bool
    message: str
    solver: str
    proof: str = ""
    presolve: str = ""
    nodes: int = 0
    seconds: float = 0.0
    oracle_calls: int = 0
    trace: tuple[Event, ...] = field(default=(), repr=False)
    upper_bound: float = math.inf
    n: int = 0
    names: Labels | None = field(default=None, repr=False)
    maximised: bool = False
    workers: tuple[WorkerShare, ...] = field(default=(), repr=False)

    @property
    def bound(self) -> float:
        """What is proved: no feasible set is better than this."""
        return self.upper_bound if self.maximised else self.lower_bound

    @property
    def gap(self) -> float:
        """The distance between value and bound, relative to |value|."""
        sign = -1.0 if self.maximised else 1.0
        return relative_gap(sign * self.value, sign * self.bound)

    @property
    def mask(self) -> Masks:
        """The set as n truth values."""
        return as_mask(self.S, self.n)

    @property
    def x(self) -> np.ndarray:
        """The set as n numbers, 0 or 1."""
        return self.mask.astype(np.int64)

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The names of the elements in the set; their numbers if they have no names."""
        return self.S if self.names is None else tuple(self.names[j] for j in self.S)

    def plot(self, axis: Any = None) -> Any:
        """Draw value and bound over time with matplotlib; returns the axis."""
        return draw_run(self.trace, axis, self.maximised)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data, as :meth:`save` writes them; infinite numbers become None."""
        numbers = ("S", "value", "lower_bound", "upper_bound", "gap", "status", "certified")
        words = ("message", "proof", "presolve", "solver", "nodes", "seconds", "oracle_calls", "n", "maximised")
        fields = {name: getattr(self, name) for name in (*numbers, *words)}
        fields["labels"] = [name if isinstance(name, (str, int, float)) else str(name) for name in self.labels]
        fields["trace"] = [event.to_dict() for event in self.trace]
        fields["workers"] = [vars(share) for share in self.workers]
        return {name: list(entry) if name == "S" else finite(entry) for name, entry in fields.items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n")

    def _rows(self) -> dict[str, str]:
        """What is shown of it: names and words."""
        side = "upper bound" if self.maximised else "lower bound"
        return {
            "set": "{" + ", ".join(map(str, self.labels)) + "}" + f"  ({len(self.S)} elements)",
            "value": f"{self.value:.10g}",
            side: f"{self.bound:.10g}" + ("" if math.isinf(self.gap) else f"  (gap {self.gap:.2g})"),
            "certified": "no" if not self.certified else f"yes: {self.proof}" if self.proof else "yes",
            "status": f"{self.status}. {self.message}",
            "cost": f"{self.seconds:.3g} s, {self.nodes:,} nodes, {self.oracle_calls:,} oracle calls, {self.solver}",
        }

    def __str__(self) -> str:
        return "\n".join(f"{name:>12}  {text}" for name, text in self._rows().items())

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        rows = {name: escape(text) for name, text in self._rows().items()}
        rows["certified"] = badge("proved" if self.certified else "not proved", self.certified) + escape(
            f" {self.proof}"
        )
        return facts("Maximum" if self.maximised else "Minimum", rows)
