"""All sets of up to two elements, or the full set: nodes that need no bound."""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats, Masks
from dsprog.exact.determinant.gamma_bound import DeterminantNode

SMALLEST = 1e-300


def small_sets(local: DeterminantNode) -> tuple[Masks, Floats]:
    """The sets of a node of sizes up to 2, or the one of all elements, and their rewards.

    det A_{ij} = A_ii A_jj - A_ij².
    """
    m = local.m
    if local.least == m:
        logs = sum(a * float(np.linalg.slogdet(np.eye(m) + P)[1]) for a, P in zip(local.a, local.P))
        return np.ones((1, m), dtype=bool), np.array([local.base + float(local.u.sum()) + logs])
    i, j = np.triu_indices(m, 1)
    pairs, ones = local.u[i] + local.u[j], local.u.copy()
    for a, P in zip(local.a, local.P):
        diagonal = 1.0 + np.diagonal(P)
        pairs += a * np.log(np.maximum(diagonal[i] * diagonal[j] - P[i, j] ** 2, SMALLEST))
        ones += a * np.log(diagonal)
    two = np.zeros((len(i), m), dtype=bool)
    two[np.arange(len(i)), i] = two[np.arange(len(i)), j] = True
    sizes = [np.zeros((1, m), dtype=bool), np.eye(m, dtype=bool), two]
    rewards = [np.zeros(1), ones, pairs]
    kept = slice(local.least, local.most + 1)
    return np.concatenate(sizes[kept]), local.base + np.concatenate(rewards[kept])
