"""Mutual information between chosen columns and the others, or between them and a class."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dsprog.core.algebra import Difference, LinearCombination, Sum, Term
from dsprog.core.knowledge import Knowledge
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_codes
from dsprog.core.views import Complement
from dsprog.functions._class_information import ClassInformation
from dsprog.functions.information import ConditionalEntropy, Entropy


class MutualInformation(SetFunction):
    """I(X_S; X_{V∖S}), I(X_S; X_{V∖S} | given) or I(X_S; y), in nats.

    Between S and its complement it is symmetric and submodular. Between S and a class it is increasing, in general
    neither submodular nor supermodular, and splits itself into H(X_S) - H(X_S | y).

    Parameters
    ----------
    X : (rows, n) array of discrete values
    y : (rows,) array, optional
        The class to inform about.
    given : (rows,) array, optional
        The variable to condition on; not together with y.

    Examples
    --------
    >>> import dsprog as ds
    >>> X, y = [[0, 0], [0, 0], [1, 1], [1, 1]], [0, 1, 0, 1]
    >>> round(ds.MutualInformation(X)([0]), 6), round(ds.MutualInformation(X, y)([0, 1]), 6)
    (0.693147, 0.0)
    """

    def __init__(self, X: Any, y: Any = None, given: Any = None) -> None:
        if y is not None and given is not None:
            raise ValueError(
                "y and given exclude each other: give the class to inform about or the one to condition on"
            )
        self.X = as_codes(X, "X", shape=(None, None))
        self.n = self.X.shape[1]
        self.y = None if y is None else as_codes(y, "y", shape=(len(self.X),))
        self.given = None if given is None else as_codes(given, "given", shape=(len(self.X),))
        if len(self.X) == 0:
            raise ValueError("X must have at least one row, got none")
        self._parts = self._build()
        self.knows = self._parts.knows if y is not None else Knowledge(submodular=True, symmetric=True)

    def _build(self) -> SetFunction:
        if self.y is not None:
            return ClassInformation(self.X, self.y)
        H: SetFunction = Entropy(self.X) if self.given is None else ConditionalEntropy(self.X, self.given)
        return H + Complement(H) - H(range(self.n))

    @property
    def class_entropy(self) -> float:
        """H(y), in nats."""
        assert self.y is not None
        shares = np.bincount(self.y)[np.unique(self.y)] / len(self.y)
        return -float(shares @ np.log(shares))

    def _values(self, masks: Masks) -> Floats:
        return self._parts._values(masks)

    def _marginals(self, masks: Masks, among: Masks | None = None) -> Floats:
        return self._parts._marginals(masks, among)

    def _chains(self, orders: Ints, start: Masks) -> Floats:
        return self._parts._chains(orders, start)

    def split(self) -> Difference | None:
        """I(X_S; y) = H(X_S) - H(X_S | y); between S and its complement there is nothing to split."""
        return self._split

    @cached_property
    def _split(self) -> Difference | None:
        return None if self.y is None else Difference(Entropy(self.X), ConditionalEntropy(self.X, self.y))


def joined(f: LinearCombination) -> Difference:
    """The same function with a H(X_S | y) - a H(X_S) written as -a I(X_S; y), which loses less in bounds."""
    terms = list(f.terms)
    for conditional in f.terms:
        a, h = conditional
        entropy = next((term for term in terms if is_partner(term, conditional)), None)
        if entropy is not None and isinstance(h, ConditionalEntropy):
            terms.remove(entropy)
            terms.remove(conditional)
            terms.append(Term(-a, MutualInformation(h.X, h.y)))
    return Difference(Sum(f.n, terms))


def is_partner(term: Term, conditional: Term) -> bool:
    """Whether a term is the entropy of the same data with the opposite coefficient."""
    a, h = term
    if not isinstance(h, Entropy) or not isinstance(conditional.function, ConditionalEntropy):
        return False
    return bool(np.isclose(a, -conditional.coefficient, rtol=1e-14)) and np.array_equal(h.X, conditional.function.X)
