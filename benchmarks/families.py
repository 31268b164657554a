"""The families of instances that benchmarks cross: letters, builders, and the sizes that are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import dsprog as ds
from dsprog.applications import explaining_away, load_chess
from dsprog.generators import FAMILIES


@dataclass(frozen=True)
class BenchmarkFamily:
    """``build(n, seed)`` makes an objective; a proper one wants a part that is neither empty nor everything."""

    name: str
    build: Callable[[int, int], ds.SetFunction]
    sizes: tuple[int, ...]
    proper: bool = False

    def constraints(self, n: int) -> list[ds.Cardinality]:
        return [ds.Cardinality(1, n - 1)] if self.proper else []


def chess_data() -> tuple[np.ndarray, np.ndarray]:
    """The 36 attributes and the class of CHESS."""
    chess = load_chess()
    return chess.X.to_numpy(dtype=object), chess.y


def chess_residual(n: int, seed: int) -> ds.Difference:
    """The explaining-away residual of n attributes of CHESS; beyond its 36, copies of which a tenth is shuffled."""
    rng, (X, y) = np.random.default_rng(seed), chess_data()
    columns = rng.permutation(36)[:n] if n < 36 else np.arange(36)
    copies = [shuffled_in_part(X[:, j], rng) for j in rng.permutation(36)[: max(0, n - 36)]]
    return explaining_away(np.column_stack([X[:, columns], *copies]), y)


def shuffled_in_part(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A column with a tenth of its entries in another order."""
    some = np.flatnonzero(rng.random(len(column)) < 0.1)
    copy = column.copy()
    copy[some] = rng.permutation(column[some])
    return copy


BENCHMARK_FAMILIES = {
    "A": BenchmarkFamily("concave", FAMILIES["concave"], (10, 15, 20, 30, 40, 50, 60)),
    "B": BenchmarkFamily("coverage", FAMILIES["coverage"], (10, 15, 20, 30, 40, 50, 60)),
    "C": BenchmarkFamily("facility", FAMILIES["facility"], (10, 15, 20, 30, 50, 70, 100)),
    "D": BenchmarkFamily("logdet", FAMILIES["logdet"], (10, 15, 20, 24, 28, 32, 36)),
    "E": BenchmarkFamily("explaining away", chess_residual, (10, 15, 20, 28, 36), proper=True),
    "F": BenchmarkFamily("callable", FAMILIES["callable"], (10, 15, 20, 24)),
}
