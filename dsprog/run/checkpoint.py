"""Checkpoints: an interrupted or killed run goes on where it was.

A checkpoint is one npz file without pickles. It has a *section* for every search of the run, one where the problem was
solved whole and one for each part otherwise: open nodes, best sets, counts. A *probe*, the values of f and g at some
fixed random sets, tells a checkpoint of another instance, which is refused. The file is written beside the old one and
moved into its place, so that a kill at any moment leaves a complete one.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dsprog.core.archive import read_arrays
from dsprog.core.problem import Problem
from dsprog.core.submodularity import rounding
from dsprog.core.validation import Floats, Masks

VERSION = 3
SECONDS_BETWEEN = 5.0
SHARE = 20.0  # so many times longer than writing took the last time, at least


@dataclass(frozen=True)
class Saved:
    """What a search needs to go on: its open nodes, its state, the best sets, and counts."""

    bundles: list[dict[str, np.ndarray]]
    state: dict[str, np.ndarray]
    masks: Masks
    values: Floats
    nodes: int
    seconds: float
    closed: float

    def header(self) -> dict[str, float]:
        """The numbers."""
        return {"nodes": self.nodes, "seconds": self.seconds, "closed": self.closed, "bundles": len(self.bundles)}

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays, by names that :meth:`of` understands."""
        named = {f"bundle/{k}/{key}": array for k, bundle in enumerate(self.bundles) for key, array in bundle.items()}
        named |= {f"state/{key}": array for key, array in self.state.items()}
        return {"masks": self.masks, "values": self.values, **named}

    @classmethod
    def of(cls, header: dict, arrays: dict[str, np.ndarray]) -> Saved:
        """The inverse of the two."""
        bundles: list[dict[str, np.ndarray]] = [{} for _ in range(header["bundles"])]
        state = {}
        for name, array in arrays.items():
            kind, _, rest = name.partition("/")
            if kind == "state":
                state[rest] = array
            elif kind == "bundle":
                k, _, key = rest.partition("/")
                bundles[int(k)][key] = array
        counts = header["nodes"], header["seconds"], header["closed"]
        return cls(bundles, state, arrays["masks"], arrays["values"], *counts)


class Checkpoint:
    """A file that a run on one problem is saved to and continued from.

    Parameters
    ----------
    path : path
    problem : Problem
    asked : dict
        What the run was asked for: words such as the solver, which must be the same, and numbers such as the gap, which
        must not be smaller than those that the file was written for.
    """

    def __init__(self, path: str | os.PathLike[str], problem: Problem, asked: dict[str, str | float]) -> None:
        self.path, self.problem, self.asked = Path(path), problem, asked
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint must be a file in an existing folder, got {str(path)!r}")
        self._probe = probe(problem)
        self._last, self._took = time.perf_counter(), 0.0
        self.saved: dict[str, Saved] = self._load()

    def section(self) -> Section:
        """Of the whole problem."""
        return Section(self, "whole")

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.perf_counter() - self._last >= max(SECONDS_BETWEEN, SHARE * self._took)

    def write(self) -> None:
        """Write all sections."""
        began = time.perf_counter()
        header = {
            "version": VERSION,
            "asked": self.asked,
            "constraints": repr(self.problem.constraints),
            "sections": {name: saved.header() for name, saved in self.saved.items()},
        }
        arrays: dict[str, np.ndarray] = {}
        for name, saved in self.saved.items():
            arrays |= {f"{name}:{key}": array for key, array in saved.arrays().items()}
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        temporary = self.path.with_name(self.path.name + ".tmp")
        with open(temporary, "wb") as file:
            np.savez(file, header=text, probe=self._probe, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, self.path)
        self._last = time.perf_counter()
        self._took = self._last - began

    def _load(self) -> dict[str, Saved]:
        """What was saved, nothing if there is no file yet; a checkpoint of another problem is refused."""
        if not self.path.exists():
            return {}
        try:
            arrays = read_arrays(self.path)
            header = json.loads(arrays.pop("header").tobytes())
        except Exception as error:
            raise ValueError(f"checkpoint {str(self.path)!r} cannot be read: {error}") from error
        self._refuse_another(header, arrays.pop("probe"))
        by_section: dict[str, dict[str, np.ndarray]] = {name: {} for name in header["sections"]}
        for name, array in arrays.items():
            section, _, key = name.partition(":")
            by_section[section][key] = array
        return {name: Saved.of(header["sections"][name], arrays) for name, arrays in by_section.items()}

    def _refuse_another(self, header: dict, saved_probe: Floats) -> None:
        name = str(self.path)
        if header.get("version") != VERSION:
            raise ValueError(f"checkpoint {name!r} has version {header.get('version')}, this dsprog reads {VERSION}")
        if not same_values(saved_probe, self._probe) or header["constraints"] != repr(self.problem.constraints):
            raise ValueError(f"checkpoint {name!r} belongs to another instance: remove it or name another file")
        for what, asked in self.asked.items():
            saved = header["asked"].get(what)
            smaller = isinstance(saved, float) and isinstance(asked, float) and saved <= asked
            if saved != asked and not smaller:  # what a wider gap has closed cannot be opened again
                raise ValueError(f"checkpoint {name!r} belongs to {what} {saved}, not to {asked}: name another file")


@dataclass(frozen=True)
class Section:
    """The place of one search in a checkpoint."""

    file: Checkpoint
    name: str

    def part(self, name: str) -> Section:
        """The place of a part."""
        return Section(self.file, f"{self.name}.{name}")

    def load(self) -> Saved | None:
        """What was saved here, if anything was."""
        return self.file.saved.get(self.name)

    def due(self) -> bool:
        """Whether it is time to save again."""
        return self.file.due()

    def save(self, saved: Saved) -> None:
        """Keep this, and write the file."""
        self.file.saved[self.name] = saved
        self.file.write()


def same_values(saved: Floats, now: Floats) -> bool:
    """Whether two probes differ by rounding only, which is relative to how much the values vary, not to an offset."""
    return saved.shape == now.shape and bool(np.abs(saved - now).max(initial=0.0) <= rounding(now, 1e-12))


def probe(problem: Problem, samples: int = 50) -> Floats:
    """f and g at fixed random sets."""
    rng = np.random.default_rng(2011)
    masks = rng.random((samples, problem.n)) < rng.random((samples, 1))
    return np.concatenate([problem.objective.f.values(masks), problem.objective.g.values(masks)])
