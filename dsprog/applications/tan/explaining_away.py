"""The explaining-away residual of a bipartition, the objective of discriminative structure learning.

    EAR(A) = I(A; V∖A | C) - I(A; V∖A) = I(V; C) - I(A; C) - I(V∖A; C)

by expanding entropies. The left form is a difference of symmetric submodular functions. The right form is a sum of
monotone terms, since mutual information with the class grows with the set: on the sets between I and U it gives EAR
>= I(V; C) - I(U; C) - I(V∖I; C), the bound that makes real data solvable. The objective is written in the right form
and splits itself into the left one.

Given a separator s, every information is conditional on s. Since I(A; C | s) = J(A) - J(∅) with J(A) = I(A, s; C),

    EAR(A | s) = I(A; V∖A | s, C) - I(A; V∖A | s) = J(V) + J(∅) - J(A) - J(V∖A),

which has the same form and the same bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import as_codes
from dsprog.functions.mutual_information import MutualInformation


def explaining_away(X: Any, y: Any, given: Any = None) -> Difference:
    """EAR of discrete columns and a class, in nats, as an objective for :func:`dsprog.minimize`.

    A cut is a proper non-empty set: pass ``constraints=[Cardinality(min=1, max=n - 1)]``.

    Parameters
    ----------
    X : (rows, n) array of discrete values
    y : (rows,) array of classes
    given : (rows,) array of discrete values, optional
        The separator to condition on.

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
    information = class_information(X, y, given)
    both_ends = information(range(information.n)) + information([])
    return Difference(both_ends - information - information.complement())


def class_information(X: Any, y: Any, given: Any) -> SetFunction:
    """J(A) = I(A, given; y)."""
    if given is None:
        return MutualInformation(X, y)
    columns = as_codes(X, "X", shape=(None, None))
    separator = as_codes(given, "given", shape=(len(columns),))
    return MutualInformation(np.column_stack([columns, separator]), y).restrict(include=[columns.shape[1]])
