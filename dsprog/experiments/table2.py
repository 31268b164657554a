"""Table 2 of Kawahara and Washio (2011): accuracy of TAN classifiers on CHESS, GERMAN, CENSUS-INCOME and HEPATITIS.

:mod:`~dsprog.experiments.table2_splits` has the splits into training and test rows. Columns are discretised, structures
learned and choices made on training rows only: smoothing and, where parts are joined, the join are those of best
accuracy in a three-fold cross-validation inside the training rows. Exact, SSP and generative cuts have the same choice
of joins, so that the cuts alone differ; a tree that is generative throughout, joined by I(X_i; X_j | C), stands beside
them. PRISM takes the choice made for the exact method, has a time limit for each cut, and runs on the first draw only.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.applications.datasets import Dataset
from dsprog.experiments.progress import Say, run_missing
from dsprog.experiments.saved_rows import Row, SavedRows
from dsprog.experiments.table2_page import write_results
from dsprog.experiments.table2_splits import DRAWS, QUICK, Split, available, split_names, split_of

KEY = ("data", "draw", "fold", "method")
SMOOTHINGS = (1.0, 0.1)
JOINS = ("conditional_likelihood", "cmi", "ear")


@dataclass(frozen=True)
class TreeVariant:
    """Options of the classifier, and whether the join is chosen too."""

    options: dict[str, Any] = field(default_factory=dict)
    joins: bool = False
    choice_of: str | None = None  # the variant whose choice it takes


VARIANTS = {
    "exact": TreeVariant(joins=True),
    "prism": TreeVariant({"method": "prism"}, choice_of="exact"),
    "ssp": TreeVariant({"method": "ssp"}, joins=True),
    "generative": TreeVariant({"structure": "generative"}, joins=True),
    "generative_cmi": TreeVariant({"structure": "generative", "join": "cmi"}),
    "friedman": TreeVariant({"structure": "generative", "tree": "spanning"}),
    "pairwise": TreeVariant({"method": "pairwise"}),
    "naive": TreeVariant({"structure": "naive"}),
    "climbing": TreeVariant({"method": "pairwise", "criterion": "conditional_likelihood"}),
}


def reproduce(
    out: Path,
    quick: bool = False,
    time_limit: float = 1.0,
    say: Say = print,
    draws: int | None = None,
    data: Sequence[str] = tuple(DRAWS),
    n_jobs: int | None = None,
) -> tuple[Path, ...]:
    """Run what is missing, save each row as it comes, draw. Returns the paths of rows, summary, figure and page."""
    rows = SavedRows(out / "table2.csv", KEY)
    splits = QUICK if quick else split_names(available(data, say), draws)
    cells = [
        dict(zip(KEY, (*split, variant)))
        for split, variant in itertools.product(splits, VARIANTS)
        if variant != "prism" or split[1] == 0
    ]

    def measure(cell: Row) -> Row:
        split = split_of(cell["data"], cell["draw"], cell["fold"], quick)
        return measured(split, cell, time_limit, rows.rows)

    run_missing(rows, cells, measure, say, n_jobs=n_jobs, together=("data", "draw", "fold"))
    return rows.path, *write_results(rows.rows, out)


def measured(split: Split, cell: Row, time_limit: float, rows: list[Row]) -> Row:
    """Choose inside the training rows, fit on them, test."""
    variant = VARIANTS[cell["method"]]
    began = time.perf_counter()
    if variant.choice_of is None:
        join, smoothing = chosen(variant, split)
    else:
        wanted = {**cell, "method": variant.choice_of}
        other = next(row for row in rows if all(row[name] == wanted[name] for name in KEY))
        join, smoothing = other["join"], other["smoothing"]
    chosen_at = time.perf_counter()
    limit = time_limit if cell["method"] == "prism" else None
    classifier = build(variant, join, smoothing, time_limit=limit).fit(split.train.X, split.train.y)
    fitted_at = time.perf_counter()
    cuts = classifier.cuts_
    return {
        "accuracy": round(float((classifier.predict(split.test.X) == split.test.y).mean()), 6),
        "natural_balanced_accuracy": "" if split.natural is None else balanced(classifier, split.natural),
        "join": join,
        "smoothing": smoothing,
        "cuts": len(cuts),
        "certified": sum(cut.certified for cut in cuts),
        "nodes": sum(cut.nodes for cut in cuts),
        "residual": round(cuts[0].value, 9) if cuts else "",
        "fit_seconds": round(fitted_at - chosen_at, 3),
        "choosing_seconds": round(chosen_at - began, 3),
        "train_rows": len(split.train.y),
        "test_rows": len(split.test.y),
    }


def balanced(classifier: Any, data: Dataset) -> float:
    """Mean of the classes' recalls."""
    guess = classifier.predict(data.X)
    recalls = [(guess[data.y == label] == label).mean() for label in np.unique(data.y)]
    return round(float(np.mean(recalls)), 6)


def build(variant: TreeVariant, join: str, smoothing: float, **more: Any) -> Any:
    """The classifier of a variant."""
    from dsprog.applications import TANClassifier

    options: dict[str, Any] = {"join": join, "smoothing": smoothing} | variant.options | more
    return TANClassifier(**options)


def chosen(variant: TreeVariant, split: Split) -> tuple[str, float]:
    """Join and smoothing of best accuracy by three-fold cross-validation of training rows; of equals the first."""
    from sklearn.model_selection import StratifiedKFold

    train = split.train
    joins = JOINS if variant.joins else (variant.options.get("join", JOINS[0]),)
    choices = list(itertools.product(joins, SMOOTHINGS))
    right = np.zeros(len(choices))
    parts = StratifiedKFold(3, shuffle=True, random_state=0).split(train.X, train.y)
    for part, (inner, outer) in enumerate(parts):
        known, rest = train.rows(inner), train.rows(outer)
        key = (part, *(variant.options.get(name) for name in ("structure", "method", "tree")))
        for k, (join, smoothing) in enumerate(choices):
            classifier = build(variant, join, smoothing, cuts=split.cuts.get(key)).fit(known.X, known.y)
            if classifier.cuts_:
                split.cuts[key] = classifier.cuts_
            right[k] += (classifier.predict(rest.X) == rest.y).sum()
    return choices[int(right.argmax())]
