"""The explaining-away residual of a bipartition, the objective of discriminative structure learning.

    EAR(A) = I(A; V∖A | C) - I(A; V∖A) = I(V; C) - I(A; C) - I(V∖A; C)

by expanding entropies. The left form is a difference of symmetric submodular functions. The right form is a sum of
monotone terms, since mutual information with the class grows with the set: on the sets between I and U it gives EAR
>= I(V; C) - I(U; C) - I(V∖I; C), the bound that makes real data solvable. The objective is written in the right form
and splits itself into the left one.
"""

from __future__ import annotations

from typing import Any

from dsprog.algebra import Difference
from dsprog.functions.mutual_information import MutualInformation


def explaining_away(X: Any, y: Any) -> Difference:
    """EAR of discrete columns and a class, in nats, as an objective for :func:`dsprog.minimize`.

    A cut is a proper non-empty set: pass ``constraints=[Cardinality(min=1, max=n - 1)]``.

    Parameters
    ----------
    X : (rows, n) array of discrete values
    y : (rows,) array of classes

    Examples
    --------
    >>> import dsprog as ds
    >>> from dsprog.applications import explaining_away
    >>> X, y = [[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]], [0, 1, 1, 0]
    >>> residual = explaining_away(X, y)
    >>> cut = ds.minimize(residual, constraints=[ds.Cardinality(1, 2)])
    >>> round(cut.value, 6), cut.certified
    (0.0, True)
    """
    information = MutualInformation(X, y)
    everything = information(range(information.n))
    return Difference(everything - information - information.complement())
