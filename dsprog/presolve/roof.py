"""Roof duality: a bound for any quadratic function by one maximum flow, and labels that some optimum has.

Write each x_i twice, as p_i and as 1 - q_i, so that every pair becomes submodular:

    u x_i = ½ u (p_i + 1 - q_i),   P x_i x_j = ½ P (p_i p_j + (1 - q_i)(1 - q_j))    if P < 0,
                                   P x_i x_j = ½ P (p_i (1 - q_j) + (1 - q_i) p_j)   if P > 0.

The submodular function F(p, q) agrees with E where q = 1 - p, so min F <= min E: the roof bound. A minimiser of F is an
*autarky*: some optimum of E has x_i = 1 where p_i = 1, q_i = 0, and x_i = 0 where p_i = 0, q_i = 1. (For any x, put
these labels in: with (x, 1-x) ∧ and ∨ the minimiser, submodularity says that E does not grow.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Ints
from dsprog.submodular.max_flow import minimum_of_form


@dataclass(frozen=True)
class Roof:
    """``lower`` <= E, and ``labels`` 0 or 1 where some optimum has them, all at once; -1 elsewhere."""

    lower: float
    labels: Ints


def doubled(form: QuadraticForm) -> QuadraticForm:
    """F over (p, q)."""
    import scipy.sparse as sparse

    half = 0.5 * form.pairs
    negative, positive = half.minimum(0), half.maximum(0)
    pairs = sparse.block_array([[negative, -positive], [-positive, negative]], format="csr")
    below, above = np.asarray(negative.sum(axis=1)).ravel(), np.asarray(positive.sum(axis=1)).ravel()
    u = np.concatenate([0.5 * form.u + above, -0.5 * form.u - below])
    # Σ_{i<j} of ½ P (1 - q_i)(1 - q_j) over P < 0 leaves its constant; each pair stands twice in the sum
    constant = form.constant + 0.5 * float(form.u.sum()) + 0.5 * float(below.sum())
    return QuadraticForm.sparse(u, pairs, constant)


def roof_duality(form: QuadraticForm) -> Roof:
    """The roof bound and its labels, from the smallest minimiser of F.

    >>> import numpy as np
    >>> frustrated = QuadraticForm.dense([-1.0, -1.0, 5.0], [[0, 4, 1], [4, 0, 0], [1, 0, 0]])
    >>> roof_duality(frustrated).labels
    array([-1, -1,  0])
    """
    lower, minimal, _ = minimum_of_form(doubled(form))
    p, q = minimal[: form.n], minimal[form.n :]
    labels = np.where(p & ~q, 1, np.where(q & ~p, 0, -1))
    return Roof(lower - 1e-13 * form.scale, labels)


def probe(form: QuadraticForm, cutoff: float, stop: Callable[[], bool] = lambda: False) -> tuple[QuadraticForm, Ints]:
    """Labels found by trying both values of each variable: one whose roof bound reaches ``cutoff`` is ruled out.

    Every set below ``cutoff`` that the labels exclude has a twin that they keep, which is no worse. Returns the form of
    the rest and the labels; ``stop`` is asked before each variable.
    """
    labels = np.full(form.n, -1)
    rest, free = form, np.arange(form.n)
    k = 0
    while k < len(free) and not stop():
        excluded = [roof_duality(rest.fixed(single(len(free), k, value))[0]).lower >= cutoff for value in (0, 1)]
        if not any(excluded):
            k += 1
            continue
        labels[free[k]] = 0 if excluded[1] else 1
        rest, left = rest.fixed(single(len(free), k, labels[free[k]]))
        found = roof_duality(rest)
        labels[free[left]] = found.labels
        rest, further = rest.fixed(found.labels)
        free, k = free[left][further], 0
    return rest, labels


def single(n: int, j: int, value: int) -> Ints:
    """Labels that fix one variable."""
    labels = np.full(n, -1)
    labels[j] = value
    return labels
