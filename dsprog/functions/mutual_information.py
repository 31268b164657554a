"""Mutual information between chosen columns and the others, or between them and a class."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.column_model import ColumnModel, Expression
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

    has_columns = True

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
        modular = self.n <= 1  # with a class it is in general neither submodular nor supermodular
        self.knows = (
            Knowledge(submodular=True, symmetric=True)
            if y is None
            else Knowledge(submodular=modular, supermodular=modular, increasing=True)
        )

    @cached_property
    def _parts(self) -> SetFunction:
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

    def on_device(self, machine: Any) -> Any:
        """By the entropies that it is made of."""
        return machine.function(self._parts if self._split is None else self._split)

    def split(self) -> Difference | None:
        """I(X_S; y) = H(X_S) - H(X_S | y); between S and its complement there is nothing to split."""
        return self._split

    @cached_property
    def _split(self) -> Difference | None:
        return None if self.y is None else Difference(Entropy(self.X), ConditionalEntropy(self.X, self.y))

    def _restrict(self, include: Ints, free: Ints) -> SetFunction:
        """With a class and nothing included: information of fewer columns."""
        if self.y is None or len(include):
            return super()._restrict(include, free)
        return MutualInformation(self.X[:, free], self.y)

    def spans(self) -> Masks | None:
        """With a class j spans k if column j tells column k, H(X_jk) = H(X_j): k adds nothing to a set with j."""
        return super().spans() if self.y is None else Entropy(self.X).spans()

    def columns(self, model: ColumnModel, elements: Ints, weight: float) -> Expression | None:
        """Information with a class that is rewarded is H(y) minus a column above what the columns leave open."""
        if self.y is None or weight > 0:
            return None
        left_open = model.class_entropy(self, elements, -weight)
        return Expression(constant=self.class_entropy).plus(left_open.scaled(-1.0))
