"""Checkpoints: an interrupted or killed run goes on where it was.

A checkpoint is one npz file without pickles: the open nodes, the best sets, and a *probe*, the values of f and g at
some fixed random sets, by which a checkpoint of another instance is recognised and refused. It is written to a second
file and moved into place, so that a kill at any moment leaves a complete one.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Masks

if TYPE_CHECKING:
    from dsprog.run.run import Monitor

VERSION = 1
SECONDS_BETWEEN = 10.0


@dataclass(frozen=True)
class Saved:
    """The contents of a checkpoint."""

    bundles: list[dict[str, np.ndarray]]
    state: dict[str, np.ndarray]
    masks: Masks
    values: Floats
    nodes: int
    seconds: float
    closed: float


class Checkpoint:
    """A file that a run of one solver on one problem is saved to and continued from."""

    def __init__(self, path: str | os.PathLike[str], problem: Problem, solver: str) -> None:
        self.path, self.problem, self.solver = Path(path), problem, solver
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint must be a file in an existing folder, got {str(path)!r}")
        self._probe = probe(problem)
        self._last = time.perf_counter()

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.perf_counter() - self._last >= SECONDS_BETWEEN

    def save(
        self, bundles: list[dict[str, np.ndarray]], state: dict[str, np.ndarray], monitor: Monitor, closed: float
    ) -> None:
        """Write everything a run needs to go on."""
        header = {
            "version": VERSION,
            "solver": self.solver,
            "constraints": repr(self.problem.constraints),
            "nodes": monitor.nodes,
            "seconds": monitor.seconds,
            "closed": closed,
            "bundles": len(bundles),
        }
        arrays = {f"bundle/{k}/{key}": array for k, bundle in enumerate(bundles) for key, array in bundle.items()}
        arrays |= {f"state/{key}": array for key, array in state.items()}
        masks, values = monitor.best_sets()
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        temporary = self.path.with_name(self.path.name + ".tmp")
        with open(temporary, "wb") as file:
            np.savez(file, header=text, probe=self._probe, masks=masks, values=values, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, self.path)
        self._last = time.perf_counter()

    def load(self) -> Saved | None:
        """What was saved, or None if there is no file yet; a checkpoint of another problem is refused."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = dict(file)
            header = json.loads(arrays.pop("header").tobytes())
        except Exception as error:
            raise ValueError(f"checkpoint {str(self.path)!r} cannot be read: {error}") from error
        self._refuse_another(header, arrays.pop("probe"))
        bundles: list[dict[str, np.ndarray]] = [{} for _ in range(header["bundles"])]
        state = {}
        masks, values = arrays.pop("masks"), arrays.pop("values")
        for name, array in arrays.items():
            kind, _, rest = name.partition("/")
            if kind == "state":
                state[rest] = array
            else:
                k, _, key = rest.partition("/")
                bundles[int(k)][key] = array
        return Saved(bundles, state, masks, values, header["nodes"], header["seconds"], header["closed"])

    def _refuse_another(self, header: dict, saved_probe: Floats) -> None:
        name = str(self.path)
        if header.get("version") != VERSION:
            raise ValueError(f"checkpoint {name!r} has version {header.get('version')}, this dsprog reads {VERSION}")
        same = saved_probe.shape == self._probe.shape and np.allclose(saved_probe, self._probe, rtol=1e-9, atol=0)
        if not same or header["constraints"] != repr(self.problem.constraints):
            raise ValueError(f"checkpoint {name!r} belongs to another instance: remove it or name another file")
        if header["solver"] != self.solver:
            raise ValueError(f"checkpoint {name!r} belongs to {header['solver']}, not to {self.solver}")


def probe(problem: Problem, samples: int = 50) -> Floats:
    """f and g at fixed random sets."""
    rng = np.random.default_rng(2011)
    masks = rng.random((samples, problem.n)) < rng.random((samples, 1))
    return np.concatenate([problem.objective.f._values(masks), problem.objective.g._values(masks)])
