"""Looking for violations of submodularity: f(S∪i) + f(S∪j) >= f(S∪ij) + f(S)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Masks, all_masks, elements

EXHAUSTIVE = 10  # elements up to which all triples are checked


@dataclass(frozen=True)
class Submodularity:
    """Whether a violation was found; true in a condition if none was.

    ``violation`` is a triple (S, i, j) with f(S∪i) + f(S∪j) < f(S∪ij) + f(S), ``excess`` by how much, ``exhaustive``
    whether all triples were looked at.
    """

    holds: bool
    violation: tuple[tuple[int, ...], int, int] | None
    excess: float
    exhaustive: bool

    def __bool__(self) -> bool:
        return self.holds

    def sentence(self) -> str:
        """The finding in words."""
        if self.violation is None:
            return "no violation of submodularity " + ("exists" if self.exhaustive else "was found in a sample")
        S, i, j = self.violation
        sides = f"f(S∪{i}) + f(S∪{j}) is below f(S∪{{{i},{j}}}) + f(S)"
        return f"not submodular: {sides} by {self.excess:.3g} at S = {set(S) or '∅'}"


def is_submodular(f: SetFunction, samples: int = 2000, seed: int = 0, tolerance: float = 1e-9) -> Submodularity:
    """Check every triple (S, i, j) for n up to 10, a sample beyond.

    Parameters
    ----------
    f : SetFunction
    samples, seed : int
        Of the sample.
    tolerance : float
        What counts as rounding, relative to the range of the values.

    Examples
    --------
    >>> import dsprog as ds
    >>> bool(ds.testing.is_submodular(ds.CardinalityConcave(6)))
    True
    >>> ds.testing.is_submodular(ds.Table([0, 0, 0, 1])).violation
    ((), 0, 1)
    """
    exhaustive = f.n <= EXHAUSTIVE
    S, i, j = all_triples(f.n) if exhaustive else sampled_triples(f.n, samples, np.random.default_rng(seed))
    if len(S) == 0:
        return Submodularity(True, None, 0.0, exhaustive)
    worst, where, slack = -np.inf, 0, 0.0
    for first in range(0, len(S), 4096):
        k = slice(first, first + 4096)
        rows = np.arange(len(S[k]))
        S_i, S_j = S[k].copy(), S[k].copy()
        S_i[rows, i[k]] = True
        S_j[rows, j[k]] = True
        low, with_i, with_j, high = (f.values(sets) for sets in (S[k], S_i, S_j, S_i | S_j))
        excess = high + low - with_i - with_j
        slack = max(slack, rounding(np.concatenate([low, with_i, with_j, high]), tolerance))
        if excess.max() > worst:
            worst, where = float(excess.max()), first + int(excess.argmax())
    if worst <= slack:
        return Submodularity(True, None, 0.0, exhaustive)
    return Submodularity(False, (elements(S[where]), int(i[where]), int(j[where])), worst, exhaustive)


def all_triples(n: int) -> tuple[Masks, np.ndarray, np.ndarray]:
    """Every S and every pair i < j outside it."""
    masks = all_masks(n)
    pairs = [(i, j) for j in range(n) for i in range(j)]
    parts = [(masks[~masks[:, i] & ~masks[:, j]], i, j) for i, j in pairs]
    if not parts:
        return masks[:0], np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    S = np.concatenate([p[0] for p in parts])
    return S, np.repeat([p[1] for p in parts], 1 << (n - 2)), np.repeat([p[2] for p in parts], 1 << (n - 2))


def sampled_triples(n: int, samples: int, rng: np.random.Generator) -> tuple[Masks, np.ndarray, np.ndarray]:
    """Random pairs and random sets without them, of all densities."""
    S = rng.random((samples, n)) < rng.random((samples, 1))
    i = rng.integers(0, n, samples)
    j = (i + rng.integers(1, n, samples)) % n
    S[np.arange(samples), i] = False
    S[np.arange(samples), j] = False
    return S, i, j


def rounding(values: Floats, relative: float = 1e-12) -> float:
    """What is rounding and not curvature: a share of the range of the values, and a few units in their last place."""
    if values.size == 0:
        return 0.0
    return relative * float(np.ptp(values)) + 16 * np.finfo(float).eps * float(np.abs(values).max())


def refuse_refuted(f: SetFunction, name: str, samples: int = 500) -> None:
    """Raise if f is known not to be submodular, or if it rests on a user's word and a sample shows that it is not."""
    if f.knows.submodular is not False and not f.rests_on_claim:
        return
    found = is_submodular(f, samples)
    if not found:
        raise ValueError(f"{name} must be submodular, but it is {found.sentence()}")
    if f.knows.submodular is False:
        raise ValueError(f"{name} must be submodular, but {f!r} is known not to be")
