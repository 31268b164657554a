"""D-optimal design: the k rows of a matrix whose information matrix has the largest determinant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.constraints import Cardinality
from dsprog.core.modular import Modular
from dsprog.core.validation import as_count, as_matrix, as_number
from dsprog.functions.spectral import LogDet
from dsprog.run.result import Result
from dsprog.solve.minimize import minimize


@dataclass(frozen=True)
class Design:
    """The chosen rows, log det of their information matrix, and a proved bound on that of any k rows.

    ``result`` belongs to the problem with the ridge; ``upper - log_det`` is what is left open without it.
    """

    rows: tuple[int, ...]
    log_det: float
    upper: float
    result: Result

    @property
    def gap(self) -> float:
        """How much better another design could be at most."""
        return self.upper - self.log_det


def d_optimal_design(
    A: ArrayLike, k: int, ridge: float = 1e-6, time_limit: float | None = None, seed: int | None = None
) -> Design:
    """Choose k rows a_i of A to maximise log det Σ_{i∈S} a_i a_i'.

    The rows are replaced by b_i with Σ_i b_i b_i' = I over all rows (log det moves by a constant, log det A'A), and a
    ridge makes the function finite everywhere: with p columns,

        log det Σ_S b_i b_i' <= log det(εI + Σ_S b_i b_i') = p log ε + log det(I + B_S B_S' / ε),

    so a bound on the right-hand side is one on the left. What the ridge costs is the difference of the two sides at the
    chosen rows, Σ_j log(1 + ε/λ_j), and ``Design.gap`` holds it together with what the search left open. Nothing
    smaller than that is proved.

    Parameters
    ----------
    A : (n, p) array of rank p
    k : int
        At least p, at most n.
    ridge : float
        ε, relative to all rows together.
    time_limit : float, optional
    seed : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from dsprog.applications import d_optimal_design
    >>> t = np.linspace(-1, 1, 9)
    >>> design = d_optimal_design(np.column_stack([np.ones(9), t, t**2]), 3)
    >>> design.rows, design.gap < 1e-4
    ((0, 4, 8), True)
    """
    rows = as_matrix(A, "A", shape=(None, None))
    n, p = rows.shape
    as_count(k, "k", least=p, most=n)
    epsilon = as_number(ridge, "ridge")
    if not epsilon > 0:
        raise ValueError(f"ridge must be positive, got {epsilon:g}")
    if p == 0 or np.linalg.matrix_rank(rows) < p:
        raise ValueError(f"A must have independent columns, got rank {np.linalg.matrix_rank(rows)} of {p}")
    B, R = np.linalg.qr(rows)
    constant = 2.0 * float(np.log(np.abs(np.diagonal(R))).sum())
    objective = Modular(np.zeros(n)) - LogDet(B @ B.T / epsilon)
    result = minimize(objective, constraints=[Cardinality(k, k)], time_limit=time_limit, seed=seed)
    chosen = list(result.S or ())
    log_det = constant + float(np.linalg.slogdet(B[chosen].T @ B[chosen])[1])
    upper = constant + p * float(np.log(epsilon)) - result.lower_bound
    return Design(tuple(chosen), log_det, max(float(upper), log_det), result)
