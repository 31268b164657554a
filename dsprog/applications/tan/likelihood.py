"""Trees by what they predict: the conditional likelihood of the training classes, and how many of them are right.

    CLL = Σ_rows log P(c | x),   P(c | x) ∝ P(c) Π_i P(x_i | x_parent(i), c),

with the counts' own smoothed probabilities. A tree can be judged after a change of one edge by adding one table, so
that trying all pairs costs one pass over the rows for each.
"""

from __future__ import annotations

import numpy as np

from dsprog.applications.tan.tables import LogTables
from dsprog.applications.tan.trees import Edge, Join, all_pairs
from dsprog.core.kernel import kernel
from dsprog.core.validation import Floats, Ints

GAIN = 1e-9  # of a log-likelihood, below which it has not risen


@kernel
def judge_kernel(scores, table, first, second, y):
    """Σ log softmax(scores + table[first, second])[y], and how many rows have their class on top."""
    likelihood, right = 0.0, 0
    classes = scores.shape[1]
    for r in range(len(y)):
        a, b, mine = first[r], second[r], y[r]
        own = scores[r, mine] + table[a, b, mine]
        others, top = 0.0, True
        for c in range(classes):
            if c != mine:
                ahead = scores[r, c] + table[a, b, c] - own
                others += np.exp(min(ahead, 700.0))
                top = top and (ahead < 0 or (ahead == 0 and mine < c))
        likelihood -= np.log1p(others)
        right += top
    return likelihood, right


class Scores:
    """log P(x, c) of every training row, for a tree that grows or changes."""

    def __init__(self, tables: LogTables) -> None:
        counts = tables.counts
        self.tables, self.y, self.n = tables, counts.y, counts.n
        self.columns = [np.ascontiguousarray(counts.codes[:, i]) for i in range(self.n)]
        self.nothing = np.zeros(len(self.y), dtype=np.int64)
        self.scores = np.repeat(tables.prior[None, :], len(self.y), axis=0)

    def judge(self, table: Floats, i: int, j: int) -> tuple[float, int]:
        """Log-likelihood and right answers with one more table over x_i and x_j; i = -1 for none."""
        return judge_kernel(self.scores, table, self._column(i), self.columns[j], self.y)

    def add(self, table: Floats, i: int, j: int, sign: float = 1.0) -> None:
        """Add a table for good, or take it away."""
        self.scores += sign * table[self._column(i), self.columns[j]]

    def _column(self, i: int) -> Ints:
        return self.nothing if i < 0 else self.columns[i]


def likeliest(tables: LogTables) -> Join:
    """Join two parts by the pair that raises the conditional likelihood most, given the edges chosen before.

    The scores begin as naive Bayes; an edge adds log P(x_i, x_j | c) - log P(x_i | c) - log P(x_j | c).
    """
    state = Scores(tables)
    for i in range(state.n):
        state.add(tables.child(i, -1), -1, i)

    def join(part: tuple[int, ...], rest: tuple[int, ...]) -> Edge:
        pairs = all_pairs(part, rest)
        i, j = max(pairs, key=lambda pair: state.judge(tables.edge(*pair), *pair)[0])
        state.add(tables.edge(i, j), i, j)
        return i, j

    return join


def climbed(tables: LogTables, parents: Ints, criterion: str) -> Ints:
    """Hill climbing: attributes take their best parent, or none, in turn, until no one improves.

    ``criterion`` is "conditional_likelihood", or "accuracy": right answers, then likelihood.
    """
    state, parents = Scores(tables), parents.copy()
    for i, parent in enumerate(parents):
        state.add(tables.child(i, parent), parent, i)

    def quality(i: int, parent: int) -> tuple[float, float]:
        likelihood, right = state.judge(tables.child(i, parent), parent, i)
        return (float(right) if criterion == "accuracy" else 0.0), likelihood

    moving = True
    while moving:
        moving = False
        for i in range(state.n):
            state.add(tables.child(i, parents[i]), parents[i], i, -1.0)
            best, chosen = quality(i, parents[i]), int(parents[i])
            for parent in (-1, *allowed_parents(parents, i)):
                trial = quality(i, parent)
                if trial[0] > best[0] or (trial[0] == best[0] and trial[1] > best[1] + GAIN):
                    best, chosen, moving = trial, parent, True
            parents[i] = chosen
            state.add(tables.child(i, chosen), chosen, i)
    return parents


def allowed_parents(parents: Ints, i: int) -> list[int]:
    """The attributes that do not hang below i."""
    below = np.zeros(len(parents), dtype=bool)
    below[i] = True
    for _ in parents:
        below |= (parents >= 0) & below[parents]
    return [int(j) for j in np.flatnonzero(~below)]
