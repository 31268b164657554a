"""What must hold of every function: values, marginals, chains, tangents and knowledge, against the referee's values."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.cases import Term
from fuzz.referee import all_sets, magnitudes, values


def slack_of(term: Term) -> float:
    """1e-9 of the widest range of a part, and 64 units in the last place of the largest value of one."""
    largest, widest = magnitudes(term)
    return 1e-9 * widest + 64 * np.finfo(float).eps * largest


def judge_function(term: Term, function: Any, rng: np.random.Generator) -> list[str]:
    """All claims about a function on at most eight elements."""
    v, slack, n = values(term), slack_of(term), function.n
    if len(v) != 1 << n:
        return [f"function: n = {n}, but there are {len(v)} sets"]
    masks = all_sets(n).astype(bool)
    wrong = differing("values", function.values(masks), v, slack)
    bits = 1 << np.arange(n, dtype=np.int64)
    index = np.arange(1 << n)[:, None]
    wrong += differing("marginals", function.marginals(masks), v[index | bits] - v[index & ~bits], slack)
    wrong += judge_chains(function, v, slack, rng)
    return wrong + judge_knowledge(function, v, slack) + judge_tangents(function, v, slack, rng)


def differing(what: str, found: np.ndarray, true: np.ndarray, slack: float) -> list[str]:
    """A sentence if some entry is off."""
    off = np.abs(found - true)
    return [f"{what}: off by {off.max():g}, more than {slack:g}"] if not (off <= slack).all() else []


def judge_chains(function: Any, v: np.ndarray, slack: float, rng: np.random.Generator) -> list[str]:
    """Increments along random orders from random sets."""
    n = function.n
    orders = np.array([rng.permutation(n) for _ in range(5)], dtype=np.int64).reshape(5, n)
    start = rng.random((5, n)) < 0.3
    at = start @ (1 << np.arange(n, dtype=np.int64))
    prefixes = np.bitwise_or.accumulate(np.column_stack([at, 1 << orders]), axis=1)
    return differing("chains", function.chains(orders, start), np.diff(v[prefixes], axis=1), slack)


def judge_knowledge(function: Any, v: np.ndarray, slack: float) -> list[str]:
    """What a function knows of itself is true, up to rounding."""
    n, wrong = function.n, []
    bits = 1 << np.arange(n, dtype=np.int64)
    index = np.arange(1 << n)[:, None]
    rises = v[index | bits] - v[index & ~bits]
    second = [rises[index[:, 0] | bit] - rises[index[:, 0] & ~bit] for bit in bits]
    bends = np.array([s[:, j] for i, s in enumerate(second) for j in range(n) if i != j])
    true = {
        "submodular": bends.max(initial=0.0) <= 4 * slack,
        "supermodular": bends.min(initial=0.0) >= -4 * slack,
        "increasing": rises.min(initial=0.0) >= -2 * slack,
        "decreasing": rises.max(initial=0.0) <= 2 * slack,
        "symmetric": np.abs(v - v[::-1]).max() <= 2 * slack,
        "integral": np.abs(v - np.round(v)).max() <= slack,
    }
    for name, holds in true.items():
        if getattr(function.knows, name) is True and not holds:
            wrong.append(f"knowledge: {name}, which it is not")
    return wrong


def judge_tangents(function: Any, v: np.ndarray, slack: float, rng: np.random.Generator) -> list[str]:
    """Tangents lie above the function; the extension equals it at sets."""
    if not function.has_concave_extension:
        return []
    n = function.n
    masks = all_sets(n)
    points = np.vstack([rng.random((6, n)), rng.random((6, n)) < 0.5, masks[:4]]).astype(float)
    constants, slopes = function.tangents(points)
    above = constants[:, None] + slopes @ masks.T - v
    room = slack + 1e-12 * (np.abs(constants).max() + np.abs(slopes).sum(axis=1).max())
    wrong = [f"tangents: one lies {-above.min():g} below, more than {room:g}"] if not above.min() >= -room else []
    return wrong + differing("extension", function.concave_extension(masks.astype(float)), v, room)
