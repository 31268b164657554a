"""Tabu search for quadratic functions over the sets of some sizes: flips while sizes allow, and exchanges.

The field of every element is carried along: a flip changes the value by ±field_i, the exchange of a member i for an
outsider j by field_j - field_i - P_ij.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Floats, Masks


@kernel
def exchange_tabu_kernel(u, P, sizes, masks, steps, waits):
    """Improve each row of ``masks`` in place; the best move that is not barred, or that gives a value never seen."""
    n, (smallest, largest) = len(u), sizes
    field, until, best = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    for b in range(len(masks)):
        x, size, now = masks[b], 0, 0.0
        for i in range(n):
            field[i], until[i], best[i] = u[i], 0, x[i]
            for j in range(n):
                if x[j]:
                    field[i] += P[i, j]
        for i in range(n):
            if x[i]:
                size += 1
                now += 0.5 * (u[i] + field[i])
        least, since, step = now, 0, 0
        while since < steps:
            step += 1
            since += 1
            first, second, change = -1, -1, np.inf
            for i in range(n):
                d = -field[i] if x[i] else field[i]
                allowed = size > smallest if x[i] else size < largest
                if allowed and d < change and (until[i] < step or now + d < least - 1e-12 * abs(least)):
                    first, second, change = i, -1, d
                if not x[i]:
                    continue
                for j in range(n):
                    if not x[j] and d + field[j] - P[i, j] < change:
                        e = d + field[j] - P[i, j]
                        if (until[i] < step and until[j] < step) or now + e < least - 1e-12 * abs(least):
                            first, second, change = i, j, e
            if first < 0:
                continue  # all moves are barred for a while
            now += change
            for turn in range(2):
                moved = second if turn else first
                if moved >= 0:
                    x[moved] = not x[moved]
                    size += 1 if x[moved] else -1
                    sign = 1.0 if x[moved] else -1.0
                    for i in range(n):
                        field[i] += sign * P[moved, i]
                    until[moved] = step + waits[(step + b + moved) % len(waits)]
            if now < least - 1e-12 * abs(least):
                least, since = now, 0
                for i in range(n):
                    best[i] = x[i]
        for i in range(n):
            x[i] = best[i]


def exchange_tabu(
    form: QuadraticForm, sizes: tuple[int, int], masks: Masks, rng: np.random.Generator, steps: int = 0
) -> tuple[Masks, Floats]:
    """Improve a batch of sets with smallest <= |S| <= largest; ``steps`` moves without improvement end a search.

    >>> import numpy as np
    >>> form = QuadraticForm.dense([-1.0, -5.0, -2.0], np.zeros((3, 3)))
    >>> exchange_tabu(form, (1, 1), np.array([[True, False, False]]), np.random.default_rng(0))[1]
    array([-5.])
    """
    masks = masks.copy()
    if form.n:
        wait = max(1, min(sizes[1], form.n - sizes[0], form.n // 4) // 3)
        waits = rng.integers(wait, wait + 5, 997)
        exchange_tabu_kernel(form.u, form.pairs.toarray(), sizes, masks, steps or 5 * form.n, waits)
    return masks, form.values(masks)


def resized(form: QuadraticForm, sizes: tuple[int, int], masks: Masks) -> Masks:
    """Sets with elements added or taken away until their size is allowed, each time the one that costs least."""
    masks = masks.copy()
    for mask in masks:
        field = form.u + form.pairs @ mask.astype(float)
        while not sizes[0] <= mask.sum() <= sizes[1]:
            adds = bool(mask.sum() < sizes[0])
            i = int(np.argmin(np.where(mask == adds, np.inf, field if adds else -field)))
            mask[i] = adds
            field += (1.0 if adds else -1.0) * form.pairs[[i]].toarray()[0]
    return masks
