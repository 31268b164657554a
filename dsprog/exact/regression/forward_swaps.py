"""First sets under a budget: forward selection, then the best swap until none helps.

All in the Gram matrix G of the loss. With G_TT = LL', W = L⁻¹ G_T· and z = L⁻¹ b_T for a set T, a further feature j
lowers the loss by

    (b_j - W_j'z)² / (2 (G_jj - W_j'W_j)),

so that the neighbours of T by one addition cost |T|² n operations, and all swaps of S |S| times that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.regression.elimination import factorised, whitened
from dsprog.exact.regression.relaxation import Loss
from dsprog.exact.regression.wide_loss import WideLoss
from dsprog.run.run import Run

DEPENDENT = 1e-9  # G_jj - W_j'W_j, in units of G_jj = 1, below which a feature adds nothing but rounding


def losses_with(loss: Loss | WideLoss, chosen: Ints) -> tuple[float, Floats]:
    """The loss of a set, and of the set with each further feature; infinite if the set is dependent."""
    L = factorised(loss.gram(chosen, chosen), np.zeros(len(chosen)), 0.0)
    if L is None:
        return np.inf, np.full(len(loss.b), np.inf)
    rest, left, here = loss.b, loss.diagonal(), loss.c
    if len(chosen):
        W, z = whitened(L, loss.beside(chosen), loss.b[chosen])
        rest, left, here = rest - z @ W, left - np.einsum("ij,ij->j", W, W), here - 0.5 * float(z @ z)
    return here, here - np.where(left > DEPENDENT, 0.5 * rest**2 / np.maximum(left, DEPENDENT), 0.0)


def neighbours(loss: Loss | WideLoss, masks: Masks) -> tuple[Floats, Floats]:
    """Values of some sets, and of each with one feature more (infinite at members)."""
    here, more = loss.penalty.values(masks), loss.penalty.marginals(masks)
    for b, mask in enumerate(masks):
        fit, fits = losses_with(loss, np.flatnonzero(mask))
        more[b] += here[b] + fits
        here[b] += fit
    more[masks] = np.inf
    return here, more


def forward_and_swaps(
    loss: Loss | WideLoss, mask: Masks, budget: int, stop: Callable[[], bool] = lambda: False
) -> Masks:
    """A set of at most ``budget`` features that no addition, removal or swap improves, beginning with ``mask``.

    What there is when ``stop`` says so is a set, too.
    """
    mask = mask.copy()
    value = np.inf
    while not stop():
        here, more = neighbours(loss, mask[None])
        value = min(value, float(here[0]))
        j = int(more[0].argmin())
        if mask.sum() < budget and more[0, j] < value:
            mask[j], value = True, float(more[0, j])
            continue
        members = np.flatnonzero(mask)
        bases = np.repeat(mask[None], len(members), axis=0)
        bases[np.arange(len(members)), members] = False
        here, more = neighbours(loss, bases)
        options = np.column_stack([here, more])
        if options.size == 0 or not options.min() < value - 1e-12 * abs(value):
            return mask
        i, j = divmod(int(options.argmin()), options.shape[1])
        mask, value = bases[i].copy(), float(options[i, j])
        if j:
            mask[j - 1] = True
    return mask


def offer_swapped(problem: Problem, run: Run, loss: Loss | WideLoss, most: int) -> None:
    """Offer what swaps make of ∅ and of a set that is known, at most so many features each."""
    none = np.zeros(problem.n, dtype=bool)
    starts = [none] if run.mask is None or run.mask.sum() > most else [none, run.mask]
    masks = np.array([forward_and_swaps(loss, start, most, lambda: run.stop_reason() is not None) for start in starts])
    run.offer(masks, problem.objective.values(masks), "swaps")
