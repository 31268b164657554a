"""Path relinking: better sets on the way from one good set to another, each improved by tabu search.

A few of the best sets met, all different, are the *elite*. A walk leaves one of them towards another and flips, of the
elements in which they differ, the one that costs least; the best set from its middle part is improved and takes the
place of the worst of the elite if it is better and new. Where the elements in which they differ fall apart into
components that no pair joins, each can be changed by itself, and those that pay are changed instead of walking. An
elite that no longer gives anything new is drawn again but for its best set.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Floats, Masks
from dsprog.exact.quadratic.forest_search import forest_search, has_forests
from dsprog.exact.quadratic.tabu import tabu_search

MARGIN = 0.3  # of a walk, at both ends: sets there fall back to where it began


def between(form: QuadraticForm, start: Masks, goal: Masks) -> Masks:
    """The best set of the middle part of the walk from one set to another."""
    _, indptr, indices, data = form.compiled
    x, best, now, least = start.copy(), start.copy(), 0.0, np.inf
    sign = np.where(goal, 1.0, -1.0)  # of the flip that is still to come
    field = form.u + form.pairs @ start.astype(float)
    closed = np.where(start != goal, 0.0, np.inf)
    apart = int((start != goal).sum())
    for step in range(1, max(1, int((1 - MARGIN) * apart)) + 1):
        change = sign * field + closed
        chosen = int(change.argmin())
        if not np.isfinite(change[chosen]):
            break
        x[chosen], closed[chosen], now = goal[chosen], np.inf, now + change[chosen]
        row = slice(indptr[chosen], indptr[chosen + 1])
        field[indices[row]] += sign[chosen] * data[row]
        if step >= MARGIN * apart and now < least:
            best, least = x.copy(), now
    return best


def crossover(form: QuadraticForm, start: Masks, goal: Masks) -> Masks:
    """``start`` with those components of {i : start_i ≠ goal_i} changed that pay: no worse than either set.

    With δ = goal - start the value changes by Σ_i δ_i (field_i + ½ (Pδ)_i), a sum over components.
    """
    from scipy.sparse.csgraph import connected_components

    apart = np.flatnonzero(start != goal)
    delta = goal.astype(float) - start
    change = delta * (form.u + form.pairs @ (start + 0.5 * delta))
    count, label = connected_components(form.pairs[apart][:, apart], directed=False)
    pays = np.bincount(label, change[apart], minlength=count) < -1e-12 * form.scale
    child = start.copy()
    child[apart[pays[label]]] ^= True
    return child


def child_of(form: QuadraticForm, start: Masks, goal: Masks) -> Masks:
    """A new set from two: components of their difference, or of that to the complement, or a walk."""
    if has_forests(form):
        child = crossover(form, crossover(form, start, goal), ~goal)
        if (child != start).any() and (child != goal).any():
            return child
    return between(form, start, goal)


def improved(form: QuadraticForm, masks: Masks, rng: np.random.Generator) -> tuple[Masks, Floats]:
    """By tabu search, and by forests where the form is sparse."""
    found, values = tabu_search(form, masks, rng)
    return forest_search(form, found, rng) if has_forests(form) else (found, values)


def path_relinking(
    form: QuadraticForm,
    masks: Masks,
    rng: np.random.Generator,
    patience: int,
    offer: Callable[[Masks, Floats], bool],
) -> None:
    """Relink the given sets until ``patience`` walks in a row have not made the best one better.

    ``offer`` gets what was found, and says whether to stop.
    """
    masks = masks.copy()
    values, since = form.values(masks), 0
    stale = 0  # walks that left the elite as it is
    while since < patience and len(masks) > 1:
        since, stale = since + 1, stale + 1
        if stale > len(masks):
            stale = 0
            for k in np.flatnonzero(np.arange(len(masks)) != values.argmin()):
                masks[k : k + 1], values[k : k + 1] = improved(form, rng.random((1, form.n)) < 0.5, rng)
                if offer(masks[k : k + 1], values[k : k + 1]):
                    return
        a, b = rng.choice(len(masks), 2, replace=False)
        found, value = improved(form, child_of(form, masks[a], masks[b])[None], rng)
        if value[0] < values.min() - 1e-12 * form.scale:
            since = 0
        worst = int(values.argmax())
        if value[0] < values[worst] and not (masks == found).all(axis=1).any():
            masks[worst], values[worst], stale = found[0], value[0], 0
        if offer(found, value):
            return
