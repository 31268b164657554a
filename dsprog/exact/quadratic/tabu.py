"""Tabu search for quadratic functions: the incumbents of the quadratic solver.

One flip a step, the best one that was not made lately (or that gives a value never seen before); the change of every
flip is carried along, so a step costs O(n).
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Floats, Masks


@kernel
def tabu_kernel(u, indptr, indices, data, masks, steps, waits, values):
    """Improve each row of ``masks`` in place; ``values`` receives E - constant."""
    n = len(u)
    field, until, best = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    for b in range(len(masks)):
        x = masks[b]
        for i in range(n):
            field[i], until[i], best[i] = u[i], 0, x[i]
        now = 0.0
        for i in range(n):
            if x[i]:
                now += u[i]
                for p in range(indptr[i], indptr[i + 1]):
                    field[indices[p]] += data[p]
                    if x[indices[p]]:
                        now += 0.5 * data[p]
        least, since = now, 0
        for step in range(1, 1_000_000_000):
            chosen, change = -1, np.inf
            for i in range(n):
                d = -field[i] if x[i] else field[i]
                if d < change and (until[i] < step or now + d < least - 1e-12 * abs(least)):
                    chosen, change = i, d
            if chosen < 0:
                chosen = step % n
                change = -field[chosen] if x[chosen] else field[chosen]
            x[chosen] = not x[chosen]
            sign = 1.0 if x[chosen] else -1.0
            now += change
            for p in range(indptr[chosen], indptr[chosen + 1]):
                field[indices[p]] += sign * data[p]
            until[chosen] = step + waits[(step + b) % len(waits)]
            since += 1
            if now < least - 1e-12 * abs(least):
                least, since = now, 0
                for i in range(n):
                    best[i] = x[i]
            if since >= steps:
                break
        for i in range(n):
            x[i] = best[i]
        values[b] = least


def tabu_search(form: QuadraticForm, masks: Masks, rng: np.random.Generator, steps: int = 0) -> tuple[Masks, Floats]:
    """Improve a batch of sets; ``steps`` flips without improvement end a search (20 n, at most 20,000, by default)."""
    masks, values = masks.copy(), np.empty(len(masks))
    if form.n == 0:
        return masks, np.full(len(masks), form.constant)
    wait = max(1, form.n // 20)
    waits = rng.integers(wait, wait + 10, 997)
    tabu_kernel(*form.compiled, masks, steps or min(20 * form.n, 20_000), waits, values)
    return masks, form.values(masks)


def random_starts(n: int, count: int, rng: np.random.Generator) -> Masks:
    """Random sets, with ∅ first."""
    masks = rng.random((count, n)) < 0.5
    masks[:1] = False
    return masks
