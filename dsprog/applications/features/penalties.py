"""Penalties on the chosen features by their names."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import as_matrix
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.nuclear import NuclearNorm

PENALTIES = ("nuclear", "frobenius", "cardinality")


def penalty_function(X: ArrayLike, penalty: str | SetFunction) -> SetFunction:
    """The penalty of a name, or the function itself."""
    columns = as_matrix(X, "X", shape=(None, None))
    if isinstance(penalty, SetFunction):
        if penalty.n != columns.shape[1]:
            raise ValueError(f"penalty must be on the {columns.shape[1]} columns of X, got n = {penalty.n}")
        return penalty
    check_penalty(penalty)
    if penalty == "nuclear":
        return NuclearNorm(columns)
    if penalty == "frobenius":
        return ConcaveOfModular((columns**2).sum(axis=0)[None, :])
    return Modular(np.ones(columns.shape[1]))


def check_penalty(penalty: object) -> None:
    """Refuse what is neither a name nor a function."""
    if not isinstance(penalty, SetFunction) and penalty not in PENALTIES:
        raise ValueError(f"penalty must be {', '.join(PENALTIES)} or a SetFunction, got {penalty!r}")
