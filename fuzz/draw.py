"""Random numbers for one problem: its size, its scale, and its style."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.cases import Code

SCALES = (1e-9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e6, 1e9)


class Draw:
    """Random numbers for one problem: its size, scale and style (whole numbers with ties, decimals, any)."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng, self.n = rng, n
        self.scale = float(rng.choice(SCALES))
        self.digits = int(rng.choice([0, 0, 1, 2, 17]))

    def choice(self, options: Any) -> Any:
        """One of some."""
        return options[int(self.rng.integers(len(options)))]

    def chance(self, p: float) -> bool:
        """With probability p."""
        return bool(self.rng.random() < p)

    def numbers(self, *shape: int, signed: bool = False, high: float = 4.0, scaled: bool = True) -> list:
        """An array in the style of the problem, some entries 0, some columns equal."""
        numbers = self.rng.uniform(-high if signed else 0.0, high, shape)
        if self.digits < 17:
            numbers = np.round(numbers, self.digits)
        numbers[self.rng.random(shape) < self.choice([0.0, 0.2, 0.6])] = 0.0
        if len(shape) and shape[-1] > 1 and self.chance(0.2):
            i, j = self.rng.choice(shape[-1], 2, replace=False)
            numbers[..., i] = numbers[..., j]
        return (numbers * (self.scale if scaled else 1.0) + 0.0).tolist()

    def matrix(self, rows: int, **style: Any) -> Any:
        """Rows of numbers for the elements."""
        return listed(np.array(self.numbers(rows, self.n, **style)).reshape(rows, self.n))

    def square(self, **style: Any) -> np.ndarray:
        """A number for every pair of elements."""
        return np.array(self.numbers(self.n, self.n, **style)).reshape(self.n, self.n)

    def codes(self, rows: int, columns: int) -> Any:
        """Discrete data."""
        X = self.rng.integers(0, self.choice([1, 2, 2, 3]), (rows, columns))
        if columns > 1 and self.chance(0.3):
            X[:, 0] = X[:, -1]
        return listed(X)

    def labels(self, rows: int) -> list[int]:
        """A class for every row."""
        return self.rng.integers(0, 2, rows).tolist()

    def subset(self, n: int, p: float = 0.4) -> list[int]:
        """Some of n elements."""
        return np.flatnonzero(self.rng.random(n) < p).tolist()


def listed(array: np.ndarray) -> Any:
    """An array as nested lists, or as source where lists would not tell its shape."""
    return array.tolist() if array.size else Code(f"np.zeros({array.shape})")
