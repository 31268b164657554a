"""The splits of Table 2, by data set, draw and fold.

A *draw* is one split into training and test rows (CHESS 2,130/1,066; CENSUS balanced samples of 2,000/2,000 from the
two files), or one five-fold cross-validation (GERMAN, HEPATITIS). Rows with missing values are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from dsprog.applications.datasets import Dataset, load_census, load_chess, load_german, load_hepatitis
from dsprog.experiments.progress import Say

DRAWS = {"chess": 10, "german": 10, "census": 8, "hepatitis": 20}
FOLDS = {"chess": 1, "german": 5, "census": 1, "hepatitis": 5}
QUICK = (("hepatitis", 0, 0), ("chess", 0, 0))
CENSUS_ROWS = 1000  # of each class, for training and for testing

SplitName = tuple[str, int, int]  # data set, draw, fold


@dataclass(frozen=True)
class Split:
    """Training and test rows; ``natural`` are test rows in their natural proportion, where testing is balanced."""

    train: Dataset
    test: Dataset
    natural: Dataset | None = None
    cuts: dict[Any, Any] = field(default_factory=dict)  # found on parts of the training rows, for all who need them


def split_names(data: Sequence[str], draws: int | None) -> Iterator[SplitName]:
    """The splits of the data sets, draw by draw, so that a run that is stopped has something of each."""
    for draw in range(max(DRAWS.values())):
        for name in data:
            if draw < (DRAWS[name] if draws is None else min(draws, DRAWS[name])):
                yield from ((name, draw, fold) for fold in range(FOLDS[name]))


def available(data: Sequence[str], say: Say) -> list[str]:
    """The data sets that are at hand; what is missing is said."""
    unknown = [name for name in data if name not in DRAWS]
    if unknown:
        raise ValueError(f"data must be among {', '.join(DRAWS)}, got {', '.join(unknown)}")
    try:
        return [name for name in data if name != "census" or census()]
    except FileNotFoundError as error:
        say(f"without census: {error}")
        return [name for name in data if name != "census"]


@lru_cache(maxsize=1)
def split_of(data: str, draw: int, fold: int, quick: bool = False) -> Split:
    """A split, kept until another is asked for; ``quick`` takes a corner of CHESS."""
    if data == "census":
        return census_split(draw)
    if data == "chess":
        return corner(chess_split(draw)) if quick else chess_split(draw)
    return fold_of(load_german() if data == "german" else load_hepatitis().complete(), draw, fold)


def chess_split(draw: int) -> Split:
    """Two thirds for training."""
    from sklearn.model_selection import train_test_split

    data = load_chess()
    train, test = train_test_split(np.arange(len(data.y)), train_size=2130, stratify=data.y, random_state=draw)
    return Split(data.rows(train), data.rows(test))


def corner(split: Split) -> Split:
    """400 rows of ten attributes."""
    train, test = (Dataset(part.name, part.X.iloc[:400, :10], part.y[:400]) for part in (split.train, split.test))
    return Split(train, test)


def fold_of(data: Dataset, draw: int, fold: int) -> Split:
    """One of five folds, stratified."""
    from sklearn.model_selection import StratifiedKFold

    parts = StratifiedKFold(5, shuffle=True, random_state=draw).split(data.X, data.y)
    train, test = list(parts)[fold]
    return Split(data.rows(train), data.rows(test))


def census_split(draw: int) -> Split:
    """As many rows of each class, from the training file and from the test file; and the test file as it is."""
    train, test = census()
    rng = np.random.default_rng(draw)
    return Split(balanced_sample(train, rng), balanced_sample(test, rng), natural=test)


@lru_cache(maxsize=1)
def census() -> tuple[Dataset, Dataset]:
    """The complete rows of both files."""
    train, test = (part.complete() for part in load_census())
    return train, test


def balanced_sample(data: Dataset, rng: np.random.Generator) -> Dataset:
    """As many rows of each class."""
    rows = [rng.permutation(np.flatnonzero(data.y == label))[:CENSUS_ROWS] for label in np.unique(data.y)]
    return data.rows(np.sort(np.concatenate(rows)))
