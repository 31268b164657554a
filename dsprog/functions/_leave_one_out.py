"""What each of some dependent columns adds to all others in explaining a target.

The formula for independent columns divides by zero here, and a basis of the others for each column in turn costs n³
for each. Halves share their work: the part of one half that is orthogonal to the other is again a problem of the same
kind, with half as many columns, so that all n cost little more than one.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.validation import Floats

NEGLIGIBLE = 1e-13  # times the number of columns: a length, relative to that of the column, that is rounding


def explained_by(R: Floats, target: Floats, mask: np.ndarray) -> float:
    """What some dependent columns explain of ½|target|²."""
    along = target @ basis_of(in_units(R)[:, mask], NEGLIGIBLE * R.shape[1])
    return 0.5 * float(along @ along)


def in_units(R: Floats) -> Floats:
    """Columns of length 1, or of zeros."""
    lengths = np.linalg.norm(R, axis=0)
    lengths[lengths == 0.0] = 1.0
    return np.asarray(R / lengths)


def marginals_of_dependent(R: Floats, target: Floats, mask: np.ndarray) -> Floats:
    """What the loss falls by with each further column, and rises by (negative) without each of some columns."""
    columns, negligible = in_units(R), NEGLIGIBLE * R.shape[1]
    out = np.zeros(len(mask))
    basis = basis_of(columns[:, mask], negligible)
    out[~mask] = -explained_alone(beside(basis, columns[:, ~mask]), target, negligible)
    out[mask] = -explained_beside_others(columns[:, mask], target, negligible)
    return out


def explained_beside_others(columns: Floats, target: Floats, negligible: float) -> Floats:
    """Of each column, what the part of it that is orthogonal to all others explains.

    >>> pair_and_one = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> explained_beside_others(pair_and_one, np.array([5.0, 2.0]), 1e-12).tolist()
    [0.0, 0.0, 2.0]
    """
    n = columns.shape[1]
    if n <= 1:
        return explained_alone(columns, target, negligible)
    first, second = columns[:, : n // 2], columns[:, n // 2 :]
    return np.concatenate(
        [
            explained_beside_others(beside(basis_of(others, negligible), half), target, negligible)
            for half, others in ((first, second), (second, first))
        ]
    )


def explained_alone(columns: Floats, target: Floats, negligible: float) -> Floats:
    """½ (target·a / |a|)² for each column a, 0 for those that are all rounding."""
    lengths = np.linalg.norm(columns, axis=0)
    along = np.divide(target @ columns, lengths, out=np.zeros(len(lengths)), where=lengths > negligible)
    return np.asarray(0.5 * along**2)


def basis_of(columns: Floats, negligible: float) -> Floats:
    """An orthonormal basis of the span of columns."""
    U, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(U[:, sizes > negligible])


def beside(basis: Floats, columns: Floats) -> Floats:
    """The parts of columns that are orthogonal to a basis; once is not enough where little is left."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
    return columns
