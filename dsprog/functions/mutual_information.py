"""Mutual information between chosen columns and the others, or between them and a class."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from dsprog.algebra import Difference
from dsprog.functions.class_information import ClassInformation
from dsprog.functions.information import ConditionalEntropy, Entropy
from dsprog.knowledge import Knowledge
from dsprog.set_function import SetFunction
from dsprog.transforms import Complement
from dsprog.validation import Floats, Ints, Masks, as_codes


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
