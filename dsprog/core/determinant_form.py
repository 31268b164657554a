"""Log determinants of principal submatrices as data: what families and views of them say they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsprog.core.validation import Floats, Ints

WORST = 1e10  # condition of a matrix, its diagonal scaled to 1, beyond which it is not inverted


@dataclass(frozen=True)
class DeterminantForm:
    """f(S) = constant + weights(S) + scale · log det M_S, M positive definite.

    >>> import dsprog as ds
    >>> form = ds.LogDet([[1.0, 0.0], [0.0, 3.0]]).determinant_form()
    >>> form.M.tolist(), form.scale
    ([[2.0, 0.0], [0.0, 4.0]], 1.0)
    """

    M: Floats
    scale: float
    weights: Floats
    constant: float = 0.0

    def restricted(self, include: Ints, free: Ints) -> DeterminantForm:
        """T -> f(I ∪ T): det M_{I∪T} = det M_I · det (M_F - M_FI M_I⁻¹ M_IF)_T, the Schur complement."""
        constant = self.constant + float(self.weights[include].sum())
        M = self.M[np.ix_(free, free)]
        if len(include):
            root = np.linalg.cholesky(self.M[np.ix_(include, include)])
            W = np.linalg.solve(root, self.M[np.ix_(include, free)])
            M = M - W.T @ W
            constant += 2.0 * self.scale * float(np.log(np.diagonal(root)).sum())
        return DeterminantForm(M, self.scale, self.weights[free], constant)

    def complemented(self) -> DeterminantForm | None:
        """S -> f(V∖S): det M_{V∖S} = det M · det (M⁻¹)_S; None where M is too near to singular to be inverted."""
        inverse = inverted(self.M)
        if inverse is None:
            return None
        constant = self.constant + float(self.weights.sum()) + self.scale * float(np.linalg.slogdet(self.M)[1])
        return DeterminantForm(inverse, self.scale, -self.weights, constant)

    def relabelled(self, order: Ints) -> DeterminantForm:
        """New element k stands for old element order[k]."""
        return DeterminantForm(self.M[np.ix_(order, order)], self.scale, self.weights[order], self.constant)


def condition(M: Floats) -> float:
    """The condition of M with its diagonal scaled to 1; infinite where it is not positive definite."""
    diagonal = np.diagonal(M)
    if not len(M):
        return 1.0
    if not (diagonal > 0).all():
        return np.inf
    eigenvalues = np.linalg.eigvalsh(M / np.sqrt(np.outer(diagonal, diagonal)))
    return float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else np.inf


def inverted(M: Floats) -> Floats | None:
    """M⁻¹, symmetric, by way of M with its diagonal scaled to 1; None where the condition is too bad."""
    if condition(M) > WORST:
        return None
    scale = 1.0 / np.sqrt(np.diagonal(M))
    inverse = np.linalg.inv(M * np.outer(scale, scale)) * np.outer(scale, scale)
    return (inverse + inverse.T) / 2
