"""Discriminative structure learning on CHESS and CENSUS-INCOME: ``python -m benchmarks.structure_learning``.

CENSUS-INCOME is read from the folder in DSPROG_CENSUS; without it these rows are left out. Seconds are of processor
time, which a busy machine changes least.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import dsprog as ds
from benchmarks.harness import print_machine, save, table
from dsprog.applications import TANClassifier, explaining_away, load_census, load_chess

Row = dict[str, Any]


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    """The answer, seconds of processor time and of the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    answer = run()
    return answer, time.process_time() - processor, time.perf_counter() - clock


def row(what: str, target: str, run: Callable[[], Any], note: Callable[[Any], str]) -> Row:
    answer, processor, clock = timed(run)
    return {"what": what, "cpu s": processor, "clock s": clock, "target": target, "note": note(answer)}


def tree_note(classifier: TANClassifier) -> str:
    certified = sum(cut.certified for cut in classifier.cuts_)
    return (
        f"{certified} of {len(classifier.cuts_)} cuts certified, {sum(cut.nodes for cut in classifier.cuts_):,} nodes"
    )


def chess_rows() -> list[Row]:
    chess = load_chess()
    X = chess.X.to_numpy(dtype=object)
    proper = [ds.Cardinality(1, 35)]
    few = explaining_away(X[:, :10], chess.y)
    ds.minimize(few, constraints=[ds.Cardinality(1, 9)])  # compiles
    TANClassifier().fit(chess.X.iloc[:, :10], chess.y)
    return [
        row(
            f"CHESS, whole-set cut, {starts} starts",
            "5 s",
            lambda starts=starts: ds.minimize(
                explaining_away(X, chess.y), ds.BranchAndBound(starts=starts), constraints=proper
            ),
            lambda r: f"certified {r.certified}, {r.value:.10f}, {r.nodes:,} nodes",
        )
        for starts in (4, 20)
    ] + [
        row("CHESS, exact bipartition tree", "10 s", lambda: TANClassifier().fit(chess.X, chess.y), tree_note),
        row(
            "CHESS, generative tree by Queyranne",
            "",
            lambda: TANClassifier(structure="generative", join="cmi").fit(chess.X, chess.y),
            tree_note,
        ),
        row("CHESS, SSP tree", "", lambda: TANClassifier(method="ssp").fit(chess.X, chess.y), tree_note),
        row(
            "CHESS, pairwise tree and hill climbing",
            "",
            lambda: TANClassifier(method="pairwise", criterion="conditional_likelihood").fit(chess.X, chess.y),
            tree_note,
        ),
    ]


def census_rows() -> list[Row]:
    train, test = load_census()
    rows = []
    for name, options in {
        "Friedman's TAN": {"structure": "generative", "tree": "spanning"},
        "pairwise EAR": {"method": "pairwise"},
        "pairwise EAR and hill climbing": {"method": "pairwise", "criterion": "conditional_likelihood"},
        "exact cuts, 1 s for each": {"time_limit": 1.0},
    }.items():
        classifier = TANClassifier(missing="category", **options)
        what = f"CENSUS 199,523 × 40, {name}"
        rows.append(row(f"{what}, fit", "120 s", lambda c=classifier: c.fit(train.X, train.y), tree_note))
        predicted = row(f"{what}, predict 99,762", "5 s", lambda c=classifier: c.predict(test.X), lambda _: "")
        rows.append(predicted)
    return rows


def main() -> None:
    rows = chess_rows() + (census_rows() if "DSPROG_CENSUS" in os.environ else [])
    save("structure", rows)
    print_machine()
    print(table(rows))


if __name__ == "__main__":
    main()
