"""Good sets of a determinant reward: greedy from both ends, then single moves and exchanges while they help.

With Q = (C_S)⁻¹, W = Q C_{S,O} and v_j = C_jj - Σ_i C_ij W_ij for the outsiders O, adding j multiplies det C_S by v_j,
removing i by Q_ii, and exchanging i for j by Q_ii v_j + W_ij². All moves are looked at, and the best one is made.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsprog.core.validation import Floats, Ints, Masks
from dsprog.exact.determinant.determinant_problem import Reward

DRAWN = 10  # starts from random sets
PERTURBED = 10  # starts with a part of the best set replaced
LEAST_GAIN = 1e-11  # of a move, relative to the value
SMALLEST = 1e-300


class DeterminantMoves:
    """The gains of all moves from a set."""

    def __init__(self, reward: Reward, mask: Masks) -> None:
        self.reward = reward
        self.inside, self.outside = np.flatnonzero(mask), np.flatnonzero(~mask)
        s, w = self.inside, reward.weights
        self.add, self.drop = w[self.outside].copy(), -w[s]
        self.swap = w[self.outside] - w[s][:, None]
        for C, a in reward.pairs:
            Q = np.linalg.inv(C[np.ix_(s, s)])
            among = C[np.ix_(s, self.outside)]
            W = Q @ among
            v = np.maximum(np.diagonal(C)[self.outside] - (among * W).sum(axis=0), SMALLEST)
            q = np.maximum(np.diagonal(Q), SMALLEST)
            self.add += a * np.log(v)
            self.drop += a * np.log(q)
            self.swap += a * np.log(np.maximum(np.outer(q, v) + W * W, SMALLEST))

    def best(self) -> tuple[float, Ints]:
        """The gain of the best move that keeps the size within its limits, and the elements that change sides."""
        size, none = len(self.inside), np.zeros(0, dtype=np.int64)
        moves: list[tuple[float, Ints]] = [(-np.inf, none)]
        if len(self.outside) and size < self.reward.most:
            j = int(np.argmax(self.add))
            moves.append((float(self.add[j]), self.outside[[j]]))
        if size > self.reward.least:
            i = int(np.argmax(self.drop))
            moves.append((float(self.drop[i]), self.inside[[i]]))
        if self.swap.size:
            i, j = divmod(int(np.argmax(self.swap)), self.swap.shape[1])
            moves.append((float(self.swap[i, j]), np.array([self.inside[i], self.outside[j]])))
        return max(moves, key=lambda move: move[0])


def value_of(reward: Reward, mask: Masks) -> float:
    """The reward of a set."""
    s = np.flatnonzero(mask)
    parts = (a * float(np.linalg.slogdet(C[np.ix_(s, s)])[1]) for C, a in reward.pairs)
    return reward.constant + float(reward.weights[mask].sum()) + sum(parts)


def improved(reward: Reward, mask: Masks, stop: Callable[[], bool]) -> Masks:
    """A set that no single move improves, by the best move again and again; values decide, so that it ends."""
    value = value_of(reward, mask)
    while not stop():
        gain, changed = DeterminantMoves(reward, mask).best()
        if not gain > 0.0:
            break
        other = mask.copy()
        other[changed] = ~mask[changed]
        new = value_of(reward, other)
        if not new > value + LEAST_GAIN * (1.0 + abs(value)):
            break
        mask, value = other, new
    return mask


def grown(reward: Reward, mask: Masks, size: int, stop: Callable[[], bool]) -> Masks:
    """Add the best element, or drop the one that costs least, until the set has so many; blindly if in haste."""
    mask = mask.copy()
    while (count := int(mask.sum())) != size:
        if stop():
            mask[np.flatnonzero(mask != (count < size))[: abs(size - count)]] = count < size
            break
        moves = DeterminantMoves(reward, mask)
        element = moves.outside[np.argmax(moves.add)] if count < size else moves.inside[np.argmax(moves.drop)]
        mask[element] = not mask[element]
    return mask


def good_sets(reward: Reward, rng: np.random.Generator, stop: Callable[[], bool], x: Floats | None = None) -> Masks:
    """Sets from greedy growth and shrinking, or from the order of x, and from perturbations of the best of them."""
    n = reward.n
    empty, full = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    starts = []
    if x is None:
        starts = [
            grown(reward, empty, reward.least, stop),
            grown(reward, full, reward.most, stop),
        ]
        if reward.least < reward.most:
            starts.append(grown(reward, empty, reward.most, stop))
    else:
        size = min(max(round(float(x.sum())), reward.least), reward.most)
        starts = [np.argsort(np.argsort(-x, kind="stable")) < size]
    found = [improved(reward, mask, stop) for mask in starts]
    values = [value_of(reward, mask) for mask in found]
    sizes = rng.integers(reward.least, reward.most + 1, DRAWN if x is None else 0)
    for size in sizes:
        if not stop():
            found.append(improved(reward, np.argsort(rng.random(n)) < size, stop))
            values.append(value_of(reward, found[-1]))
    for _ in range(PERTURBED if x is None else 0):
        if stop():
            break
        best = found[int(np.argmax(values))]
        mask, size = best.copy(), int(best.sum())
        flips = max(1, min(size, n - size) // 4)
        if 0 < size < n:
            mask[rng.choice(np.flatnonzero(best), min(flips, size), replace=False)] = False
            mask[rng.choice(np.flatnonzero(~best), min(flips, n - size), replace=False)] = True
        found.append(improved(reward, mask, stop))
        values.append(value_of(reward, found[-1]))
    return np.array(found)
