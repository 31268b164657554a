"""Table 2 of Kawahara and Washio (2011): accuracy of TAN classifiers on CHESS, GERMAN, CENSUS-INCOME and HEPATITIS.

A *draw* is one split into training and test rows (CHESS 2,130/1,066; CENSUS balanced samples of 2,000/2,000 from the
two files), or one five-fold cross-validation (GERMAN, HEPATITIS). Rows with missing values are removed. Columns are
discretised, structures learned and choices made on training rows only: smoothing and, where parts are joined, the
join are those of best accuracy in a three-fold cross-validation inside the training rows. Exact, SSP and generative
cuts have the same choice of joins, so that the cuts alone differ; a tree that is generative throughout, joined by
I(X_i; X_j | C), stands beside them. PRISM takes the choice made for the exact method, has a time limit for each cut,
and runs on the first draw only.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, train_test_split

from dsprog.applications.datasets import Dataset, load_census, load_chess, load_german, load_hepatitis
from dsprog.applications.tan.classifier import TANClassifier
from dsprog.experiments.rows import Row, Rows

KEY = ("data", "draw", "fold", "method")
SMOOTHINGS = (1.0, 0.1)
JOINS = ("conditional_likelihood", "cmi", "ear")
DATA = ("chess", "german", "census", "hepatitis")
DRAWS = {"chess": 10, "german": 10, "census": 8, "hepatitis": 20}
CENSUS_ROWS = 1000  # of each class, for training and for testing


@dataclass(frozen=True)
class Method:
    """Options of the classifier, and whether the join is chosen too."""

    options: dict[str, Any] = field(default_factory=dict)
    joins: bool = False
    choice_of: str | None = None  # the method whose choice it takes


METHODS = {
    "exact": Method(joins=True),
    "prism": Method({"method": "prism"}, choice_of="exact"),
    "ssp": Method({"method": "ssp"}, joins=True),
    "generative": Method({"structure": "generative"}, joins=True),
    "generative_cmi": Method({"structure": "generative", "join": "cmi"}),
    "friedman": Method({"structure": "generative", "tree": "spanning"}),
    "pairwise": Method({"method": "pairwise"}),
    "naive": Method({"structure": "naive"}),
    "climbing": Method({"method": "pairwise", "criterion": "conditional_likelihood"}),
}


@dataclass(frozen=True)
class Split:
    """Training and test rows; ``natural`` are test rows in their natural proportion, where testing is balanced."""

    data: str
    draw: int
    fold: int
    train: Dataset
    test: Dataset
    natural: Dataset | None = None
    cuts: dict[Any, Any] = field(default_factory=dict)  # found on parts of the training rows, for all who need them


def reproduce(
    out: Path,
    quick: bool = False,
    time_limit: float = 1.0,
    draws: int | None = None,
    data: Sequence[str] = DATA,
    say: Callable[[str], object] = print,
) -> tuple[Path, ...]:
    """Run what is missing, save each row as it comes, draw. Returns the paths of rows, summary, figure and page."""
    from dsprog.experiments.table2_page import write

    rows = Rows(out / "table2.csv", KEY)
    for split in quick_splits() if quick else all_splits(data, draws, say):
        for name in METHODS:
            row = {"data": split.data, "draw": split.draw, "fold": split.fold, "method": name}
            if not rows.has(row) and (name != "prism" or split.draw == 0):
                rows.append(row | measured(split, name, time_limit, rows))
                say(" ".join(map(str, rows.rows[-1].values())))
    return rows.path, *write(rows.rows, out)


def measured(split: Split, name: str, time_limit: float, rows: Rows) -> Row:
    """Choose inside the training rows, fit on them, test."""
    method = METHODS[name]
    limit = time_limit if name == "prism" else None
    began = time.perf_counter()
    if method.choice_of is None:
        join, smoothing = chosen(method, split)
    else:
        other = next(r for r in rows.rows if named(r) == (split.data, split.draw, split.fold, method.choice_of))
        join, smoothing = other["join"], other["smoothing"]
    choosing = time.perf_counter() - began
    began = time.perf_counter()
    classifier = build(method, join, smoothing, time_limit=limit).fit(split.train.X, split.train.y)
    fitting = time.perf_counter() - began
    guess = classifier.predict(split.test.X)
    natural = "" if split.natural is None else balanced(classifier, split.natural)
    return {
        "accuracy": round(accuracy_score(split.test.y, guess), 6),
        "natural_balanced_accuracy": natural,
        "join": join,
        "smoothing": smoothing,
        "cuts": len(classifier.cuts_),
        "certified": sum(cut.certified for cut in classifier.cuts_),
        "nodes": sum(cut.nodes for cut in classifier.cuts_),
        "residual": round(classifier.cuts_[0].value, 9) if classifier.cuts_ else "",
        "fit_seconds": round(fitting, 3),
        "choosing_seconds": round(choosing, 3),
        "train_rows": len(split.train.y),
        "test_rows": len(split.test.y),
    }


def named(row: Row) -> tuple[Any, ...]:
    """What a row is the result of."""
    return tuple(row[name] for name in KEY)


def balanced(classifier: TANClassifier, data: Dataset) -> float:
    """Mean of the classes' recalls."""
    return round(float(balanced_accuracy_score(data.y, classifier.predict(data.X))), 6)


def build(method: Method, join: str, smoothing: float, **more: Any) -> TANClassifier:
    """The classifier of a method."""
    options: dict[str, Any] = {"join": join, "smoothing": smoothing} | method.options | more
    return TANClassifier(**options)


def chosen(method: Method, split: Split) -> tuple[str, float]:
    """Join and smoothing of best accuracy by three-fold cross-validation of training rows; of equals the first."""
    train = split.train
    joins = JOINS if method.joins else (method.options.get("join", JOINS[0]),)
    choices = list(itertools.product(joins, SMOOTHINGS))
    right = np.zeros(len(choices))
    parts = StratifiedKFold(3, shuffle=True, random_state=0).split(train.X, train.y)
    for part, (inner, outer) in enumerate(parts):
        known, rest = train.rows(inner), train.rows(outer)
        key = (part, *(method.options.get(name) for name in ("structure", "method", "tree")))
        for k, (join, smoothing) in enumerate(choices):
            classifier = build(method, join, smoothing, cuts=split.cuts.get(key)).fit(known.X, known.y)
            if classifier.cuts_:
                split.cuts[key] = classifier.cuts_
            right[k] += (classifier.predict(rest.X) == rest.y).sum()
    return choices[int(right.argmax())]


# -- splits ---------------------------------------------------------------------------------------------------------


def all_splits(data: Sequence[str], draws: int | None, say: Callable[[str], object]) -> Iterator[Split]:
    """The splits of the data sets, draw by draw, so that a run that is stopped has something of each."""
    sources = {"chess": chess_splits, "german": german_splits, "hepatitis": hepatitis_splits}
    if "census" in data:
        try:
            train, test = (part.complete() for part in load_census())
            sources["census"] = lambda draw: census_splits(train, test, draw)
        except FileNotFoundError as error:
            say(f"without census: {error}")
    for draw in range(max(DRAWS.values())):
        for name in data:
            if name in sources and draw < (DRAWS[name] if draws is None else min(draws, DRAWS[name])):
                yield from sources[name](draw)


def chess_splits(draw: int) -> Iterator[Split]:
    """Two thirds for training."""
    data = load_chess()
    train, test = train_test_split(np.arange(len(data.y)), train_size=2130, stratify=data.y, random_state=draw)
    yield Split("chess", draw, 0, data.rows(train), data.rows(test))


def german_splits(draw: int) -> Iterator[Split]:
    """Five folds."""
    return folds(load_german(), draw)


def hepatitis_splits(draw: int) -> Iterator[Split]:
    """Five folds of the complete rows."""
    return folds(load_hepatitis().complete(), draw)


def folds(data: Dataset, draw: int) -> Iterator[Split]:
    """Five-fold cross-validation, stratified."""
    parts = StratifiedKFold(5, shuffle=True, random_state=draw).split(data.X, data.y)
    for fold, (train, test) in enumerate(parts):
        yield Split(data.name, draw, fold, data.rows(train), data.rows(test))


def census_splits(train: Dataset, test: Dataset, draw: int) -> Iterator[Split]:
    """As many rows of each class, from the training file and from the test file; and the test file as it is."""
    rng = np.random.default_rng(draw)
    yield Split("census", draw, 0, sample(train, rng), sample(test, rng), natural=test)


def sample(data: Dataset, rng: np.random.Generator) -> Dataset:
    """A balanced sample."""
    rows = [rng.permutation(np.flatnonzero(data.y == label))[:CENSUS_ROWS] for label in np.unique(data.y)]
    return data.rows(np.sort(np.concatenate(rows)))


def quick_splits() -> Iterator[Split]:
    """One fold of HEPATITIS, and a corner of CHESS."""
    yield next(hepatitis_splits(0))
    whole = next(chess_splits(0))
    few = [Dataset("chess", part.X.iloc[:400, :10], part.y[:400]) for part in (whole.train, whole.test)]
    yield Split("chess", 0, 0, few[0], few[1])
