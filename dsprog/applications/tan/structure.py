"""Which tree a set of options asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from dsprog.applications.tan.attribute_cuts import CUT_SOLVERS, AttributeCut, Cutter, bipartition
from dsprog.applications.tan.likelihood import climbed, likeliest
from dsprog.applications.tan.tables import Counts, LogTables
from dsprog.applications.tan.trees import Edge, Join, Separators, heaviest, joined, rooted, spanning_tree
from dsprog.core.validation import Floats, Ints

CHOICES = {
    "structure": ("discriminative", "generative", "naive"),
    "method": (*CUT_SOLVERS, "pairwise"),
    "tree": ("bipartition", "separator", "spanning"),
    "join": ("conditional_likelihood", "cmi", "ear"),
    "criterion": ("ear", "conditional_likelihood", "accuracy"),
}


@dataclass(frozen=True)
class Structure:
    """The options of :class:`dsprog.applications.TANClassifier` that decide its tree."""

    structure: str
    method: str
    tree: str
    join: str
    criterion: str
    smoothing: float
    time_limit: float | None
    cuts: Sequence[AttributeCut] | None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r}")

    def learn(self, counts: Counts) -> tuple[Ints, list[AttributeCut]]:
        """The parents, and the cuts behind them."""
        cuts: list[AttributeCut] = []
        parents = np.full(counts.n, -1, dtype=np.int64)
        if self.structure != "naive":
            edges, cuts = self._edges(counts)
            parents = rooted(counts.n, edges)
        if self.criterion != "ear":
            parents = climbed(LogTables(counts, self.smoothing), parents, self.criterion)
        return parents, cuts

    def _edges(self, counts: Counts) -> tuple[list[Edge], list[AttributeCut]]:
        if self.tree == "spanning" or self.method == "pairwise":
            return spanning_tree(self._weights(counts)), []
        everything = tuple(range(counts.n))
        cutter = Cutter(counts.codes, counts.y, self.structure == "generative", self.method, self.time_limit)
        if self.tree == "separator":
            others = [everything[:s] + everything[s + 1 :] for s in everything]
            given = Parallel(self.n_jobs)(delayed(bipartition)(cutter, others[s], s) for s in everything)
            return Separators(self._weights(counts), given).edges(), [cut for cuts in given for cut in cuts]
        cutter = replace(cutter, workers=effective_n_jobs(self.n_jobs))
        cuts = bipartition(cutter, everything) if self.cuts is None else list(self.cuts)
        return joined(cuts, self._join(counts)), cuts

    def _weights(self, counts: Counts) -> Floats:
        return counts.conditional_information if self.structure == "generative" else counts.residual

    def _join(self, counts: Counts) -> Join:
        if self.join == "conditional_likelihood":
            return likeliest(LogTables(counts, self.smoothing))
        return heaviest(counts.conditional_information if self.join == "cmi" else counts.residual)
