"""Random quadratic forms, and what enumeration says about them."""

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.functions.table import all_masks


def random_form(seed: int, largest: int = 10) -> QuadraticForm:
    """Whole or real coefficients, all densities, sometimes symmetric under complement, sometimes of one sign."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    P = np.triu(rng.integers(-9, 10, (n, n)) * (rng.random((n, n)) < rng.random()), 1).astype(float)
    P = [P, P * rng.random(P.shape), np.abs(P), P][seed % 4]
    P = P + P.T
    u = -P.sum(axis=0) / 2 if seed % 5 == 0 else rng.integers(-9, 10, n) * rng.random()
    return QuadraticForm.dense(np.round(u) if seed % 2 else u, P, constant=3.0)


def minimum(form: QuadraticForm) -> float:
    """The least value of all sets."""
    return float(form.values(all_masks(form.n)).min())


def agreeing(labels, n):
    """The masks that agree with a partial labelling."""
    masks = all_masks(n)
    return masks[((masks == (labels == 1)) | (labels < 0)).all(axis=1)]
