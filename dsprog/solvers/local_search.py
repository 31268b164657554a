"""Local search by single flips, on a batch of sets."""

from __future__ import annotations

import numpy as np

from dsprog.problem import Problem
from dsprog.validation import Floats, Masks


def feasible_starts(problem: Problem, rng: np.random.Generator, count: int) -> Masks:
    """Random feasible sets of all sizes, and ∅ and V if they are feasible; perhaps fewer than asked for."""
    n, rows = problem.n, problem.rows
    masks = rng.random((count, n)) < rng.random((count, 1))
    masks = np.vstack([masks, np.zeros((1, n), dtype=bool), np.ones((1, n), dtype=bool)])
    if len(rows) == 0:
        return masks
    filled = np.zeros((count, n), dtype=bool)
    size = rng.integers(0, n + 1, count)
    for b in range(
        count
    ):  # add elements in random order while the upper limits hold, a random number beyond the lower ones
        for j in rng.permutation(n):
            trial = filled[b].copy()
            trial[j] = True
            activity = rows.A @ trial
            wanted = trial.sum() <= size[b] or (rows.A @ filled[b] < rows.lo).any()
            if wanted and (activity <= rows.hi).all():
                filled[b] = trial
    masks = np.vstack([masks, filled])
    return masks[problem.feasible(masks)]


def descend(problem: Problem, masks: Masks) -> tuple[Masks, Floats]:
    """Flip the best element of each set until no feasible flip improves it."""
    objective, sets = problem.objective, masks.copy()
    moving = np.arange(len(sets))
    while len(moving):
        marginals = objective.marginals(sets[moving])
        change = np.where(sets[moving], -marginals, marginals)
        if len(problem.rows):
            flipped = sets[moving][:, None, :] ^ np.eye(problem.n, dtype=bool)
            allowed = problem.feasible(flipped.reshape(-1, problem.n)).reshape(change.shape)
            change = np.where(allowed, change, np.inf)
        best = change.argmin(axis=1) if problem.n else np.zeros(len(moving), dtype=int)
        gains = (
            change[np.arange(len(moving)), best] < -problem.slack if problem.n else np.zeros(len(moving), dtype=bool)
        )
        moving, best = moving[gains], best[gains]
        sets[moving, best] ^= True
    return sets, objective.values(sets)
