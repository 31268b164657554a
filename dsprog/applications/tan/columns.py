"""Columns of any kind as integer codes: categories numbered, numbers discretised, missing values dealt with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dsprog.applications.tan.discretize import edges_of
from dsprog.core.validation import Floats, Ints, Masks


@dataclass(frozen=True)
class Category:
    """A column of categories, numbered; ``gaps`` says whether missing values were seen, as a category of their own."""

    numbers: dict[Any, int]
    gaps: bool

    @property
    def size(self) -> int:
        """How many values were seen."""
        return len(self.numbers) + self.gaps

    def codes(self, column: Any) -> Ints:
        """The number of each value; one never seen has the number ``size``."""
        place, values = pd.factorize(column)
        missing = len(self.numbers)  # the number of a missing value; equal to size if none was seen
        numbers = [*(self.numbers.get(value, self.size) for value in values), missing]
        return np.array(numbers, dtype=np.int64)[place]


@dataclass(frozen=True)
class Intervals:
    """A column of numbers, cut at ``edges``; ``gaps`` says whether missing values were seen."""

    edges: Floats
    gaps: bool

    @property
    def size(self) -> int:
        """How many intervals there are, with that of missing values."""
        return len(self.edges) + 1 + self.gaps

    def codes(self, column: Any) -> Ints:
        """The interval of each value; a missing one comes after the last."""
        numbers = np.asarray(column, dtype=float)
        return np.where(np.isnan(numbers), len(self.edges) + 1, np.searchsorted(self.edges, numbers, side="right"))


Coder = Category | Intervals


def learned(column: Any, categorical: bool, classes: Ints) -> Coder:
    """How to code a column, from training rows and their classes."""
    gaps = gaps_of(column)
    if categorical:
        return Category({value: k for k, value in enumerate(ordered(pd.factorize(column)[1]))}, bool(gaps.any()))
    return Intervals(edges_of(np.asarray(column, dtype=float)[~gaps], classes[~gaps]), bool(gaps.any()))


def ordered(values: Iterable[Any]) -> list[Any]:
    """Values in rising order, or as they come if they have none."""
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def split_columns(X: Any) -> list[Any]:
    """The columns of an array or a pandas table."""
    return [X.iloc[:, j].array for j in range(X.shape[1])] if hasattr(X, "iloc") else list(X.T)


def gaps_of(column: Any) -> Masks:
    """Which values are missing: NaN, None or pandas' NA."""
    return np.asarray(pd.isna(column), dtype=bool)


def which_categorical(columns: list[Any], chosen: Any, names: Iterable[str] | None) -> list[bool]:
    """Whether each column is one of categories; "auto" means those that do not hold numbers."""
    if isinstance(chosen, str):
        if chosen not in ("auto", "all"):
            raise ValueError(f"categorical must be 'auto', 'all' or a list of columns, got {chosen!r}")
        return [chosen == "all" or not is_numeric(column) for column in columns]
    wanted = np.asarray(chosen)
    if wanted.ndim != 1 or (wanted.dtype == bool and len(wanted) != len(columns)):
        raise ValueError(
            f"categorical must be a list of columns or one truth value for each of {len(columns)} columns, "
            f"got shape {wanted.shape}"
        )
    if wanted.dtype == bool:
        return wanted.tolist()
    labels = list(range(len(columns))) if wanted.dtype.kind in "iu" or names is None else list(names)
    unknown = [label for label in wanted.tolist() if label not in labels]
    if unknown:
        raise ValueError(f"categorical must be columns of X, such as {labels[0]!r}, got {unknown[0]!r}")
    return [label in wanted for label in labels]


def is_numeric(column: Any) -> bool:
    """Whether a column holds numbers, by its type, or one by one in a column of objects."""
    if column.dtype == object:
        present = np.asarray(column, dtype=object)[~gaps_of(column)]
        return all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in present)
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
