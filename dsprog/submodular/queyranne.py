"""Queyranne's algorithm: a symmetric submodular function over the proper non-empty sets.

Let blocks join an order one by one, always the block v with the least f(W ∪ v) - f(v). The last two, t and u, are a
pendant pair: u is a best set among all that separate u from t. Remember it, merge t and u, and repeat: n - 1 rounds,
O(n³) values.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Masks, elements
from dsprog.submodular.minimum import SubmodularMinimum


def minimize_by_queyranne(f: SetFunction) -> SubmodularMinimum:
    """Minimise a symmetric submodular function over ∅ ≠ S ≠ V; see :func:`dsprog.minimize_submodular`."""
    if f.n < 2:
        raise ValueError(
            f"queyranne needs at least two elements, since proper non-empty sets are sought, got n = {f.n}"
        )
    if f.knows.symmetric is not True:
        raise ValueError(f"queyranne needs a function that is known to be symmetric, got {f!r}")
    blocks = np.eye(f.n, dtype=bool)
    candidates = []
    while len(blocks) > 1:
        t, u = pendant_pair(f, blocks)
        candidates.append(blocks[u].copy())
        blocks[t] |= blocks[u]
        blocks = np.delete(blocks, u, axis=0)
    values = f.values(np.array(candidates))
    best = candidates[int(values.argmin())]
    value = float(f.values(best[None, :])[0])
    certified = f.knows.submodular is True
    message = (
        "Proved minimal among proper non-empty sets." if certified else "Not certified: not known to be submodular."
    )
    S = elements(best)
    return SubmodularMinimum(
        S, value, value if certified else -np.inf, certified, None, None, "Queyranne", f.n - 1, message
    )


def pendant_pair(f: SetFunction, blocks: Masks) -> tuple[int, int]:
    """The last two blocks of Queyranne's order; the second is a best set that separates them."""
    alone = f.values(blocks)
    left = list(range(1, len(blocks)))
    order, inside = [0], blocks[0].copy()
    while left:
        keys = f.values(inside | blocks[left]) - alone[left]
        chosen = left.pop(int(keys.argmin()))
        order.append(chosen)
        inside |= blocks[chosen]
    return order[-2], order[-1]
