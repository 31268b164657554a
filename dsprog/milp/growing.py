"""A linear programme min w·z, l <= z <= u, that grows by sparse rows a·z >= b and is solved again from where it was.

HiGHS does the work; the bound that counts is computed here from its multipliers, clipped at 0, so that it is valid
whatever the solver's tolerances did: for every feasible z and λ >= 0, with d = w - A'λ,

    w·z >= Σ λ_k b_k + Σ_e min(l_e d_e, u_e d_e),

and Σ_e (u_e - l_e) |d_e| more where z_e is at the other end than d_e wants. Limits are 0 and 1 until they are changed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dsprog.core.validation import Floats, Ints
from dsprog.milp import highs


class GrowingProgramme:
    """The rows so far, and HiGHS with its basis.

    >>> import numpy as np
    >>> programme = GrowingProgramme(np.array([-1.0, -1.0]))
    >>> programme.add(np.array([0, 2]), np.array([0, 1]), np.array([-1.0, -1.0]), np.array([-1.0]))
    >>> z = programme.solve()
    >>> round(programme.bound, 9), round(float(z.sum()), 9)
    (-1.0, 1.0)
    """

    def __init__(self, w: Floats) -> None:
        self.w, self.b, self.age = w, np.zeros(0), np.zeros(0, dtype=np.int64)
        self.lower, self.upper = np.zeros(len(w)), np.ones(len(w))
        self.bound, self.reduced = float(np.minimum(w, 0.0).sum()), w
        self.model = highs.empty({"output_flag": False, "threads": 1, "solver": "simplex", "presolve": "off"})
        for cost in w.tolist():
            self.model.addCol(cost, 0.0, 1.0, 0, [], [])

    def add(self, starts: Ints, columns: Ints, values: Floats, b: Floats) -> None:
        """Add the rows k with entries starts[k] to starts[k + 1]."""
        highs.add(self.model, highs.Rows(b, np.full(len(b), math.inf), starts, columns, values))
        self.b = np.append(self.b, b)
        self.age = np.append(self.age, np.zeros(len(b), dtype=np.int64))

    def limit(self, lower: Floats, upper: Floats) -> None:
        """Put the variables between other limits, within 0 and 1; the bound begins anew."""
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper)).astype(np.int32)
        self.lower, self.upper = lower.copy(), upper.copy()
        self.bound = float(np.minimum(self.w * lower, self.w * upper).sum())
        if len(changed):
            self.model.changeColsBounds(len(changed), changed, lower[changed], upper[changed])

    def solve(self) -> Floats:
        """Solve, raise ``bound``, and return the point z."""
        self.model.run()
        solution = self.model.getSolution()
        multipliers = np.maximum(np.array(solution.row_dual), 0.0) if solution.dual_valid else np.zeros(len(self.b))
        rows, entries = self._matrix()
        taken = np.bincount(entries.indices, weights=entries.data * multipliers[rows], minlength=len(self.w))
        reduced = self.w - taken
        rounding = 1e-13 * float(np.abs(self.w).sum() + np.abs(taken).sum() + multipliers @ np.abs(self.b))
        ends = np.minimum(reduced * self.lower, reduced * self.upper)
        bound = float(multipliers @ self.b + ends.sum()) - rounding
        if bound > self.bound:
            self.bound, self.reduced = bound, reduced
        self.age = np.where(multipliers > 0, 0, self.age + 1)
        return np.clip(np.array(solution.col_value), self.lower, self.upper)

    def _matrix(self) -> tuple[Ints, Any]:
        """The rows as HiGHS has them: the row of each entry, and the entries."""
        import scipy.sparse as sparse

        matrix = self.model.getLp().a_matrix_
        arrays = np.array(matrix.value_), np.array(matrix.index_), np.array(matrix.start_)
        by_row = "kRow" in str(matrix.format_)
        shape = len(self.b), len(self.w)
        entries = sparse.csr_array(arrays, shape) if by_row else sparse.csc_array(arrays, shape).tocsr()
        return np.repeat(np.arange(len(self.b)), np.diff(entries.indptr)), entries

    def forget(self, rounds: int) -> None:
        """Drop the rows that no multiplier has used for some rounds."""
        old = np.flatnonzero(self.age >= rounds)
        if len(old):
            self.model.deleteRows(len(old), old.astype(np.int32))
            self.b, self.age = np.delete(self.b, old), np.delete(self.age, old)
