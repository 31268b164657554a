"""What a set function knows about itself, and how algebra preserves it.

Every property is True (it holds), False (it must not be assumed: it was refuted, or fails for the family in general)
or None (unknown). Only True ever supports a certificate. The rules below are sound and incomplete, like the curvature
rules of disciplined convex programming: a sum of submodular functions is submodular; whether a sum with an unknown
term is, nobody says.

>>> from dsprog.core.knowledge import Knowledge
>>> Knowledge(submodular=True, increasing=True).scaled(-2.0).supermodular
True
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsprog.core.validation import as_claim

Known = bool | None


@dataclass(frozen=True)
class Knowledge:
    """Properties of a set function; None means unknown.

    >>> import dsprog as ds
    >>> known = ds.Knowledge(submodular=True, increasing=True)
    >>> known.plus(known).submodular, known.supermodular
    (True, None)
    """

    submodular: Known = None
    supermodular: Known = None
    increasing: Known = None
    decreasing: Known = None
    symmetric: Known = None
    integral: Known = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and value is not True and value is not False:
                object.__setattr__(self, name, as_claim(value, name))

    @property
    def modular(self) -> Known:
        """f(S) = constant + Σ_{j∈S} w_j: submodular and supermodular at once."""
        return both(self.submodular, self.supermodular)

    @property
    def monotone(self) -> bool:
        """Whether the function is known to be increasing or known to be decreasing."""
        return self.increasing is True or self.decreasing is True

    def scaled(self, factor: float) -> Knowledge:
        """Of ``factor`` * f: a negative factor swaps submodular with supermodular and increasing with decreasing."""
        if factor == 0:
            return ZERO
        integral = self.integral if float(factor).is_integer() else None
        if factor > 0:
            return replace(self, integral=integral)
        return replace(
            self,
            submodular=self.supermodular,
            supermodular=self.submodular,
            increasing=self.decreasing,
            decreasing=self.increasing,
            integral=integral,
        )

    def plus(self, other: Knowledge) -> Knowledge:
        """Of f + g: a sum has the properties that both terms have."""
        return Knowledge(
            submodular=both(self.submodular, other.submodular),
            supermodular=both(self.supermodular, other.supermodular),
            increasing=both(self.increasing, other.increasing),
            decreasing=both(self.decreasing, other.decreasing),
            symmetric=both(self.symmetric, other.symmetric),
            integral=both(self.integral, other.integral),
        )

    def complemented(self) -> Knowledge:
        """Of S -> f(V∖S): curvature stays, monotonicity turns round."""
        return replace(self, increasing=self.decreasing, decreasing=self.increasing)

    def restricted(self) -> Knowledge:
        """Of f on an interval: everything stays but symmetry; what failed somewhere may hold there."""
        kept = {name: value or None for name, value in vars(self).items()}
        return Knowledge(**{**kept, "symmetric": None})

    def describe(self) -> str:
        """The properties that hold, in words."""
        curvature = ["modular"] if self.modular else [p for p in ("submodular", "supermodular") if getattr(self, p)]
        others = [p for p in ("increasing", "decreasing", "symmetric", "integral") if getattr(self, p)]
        return ", ".join(curvature + others) or "nothing known"


def both(a: Known, b: Known) -> Known:
    """True if both are; otherwise unknown, since the failures of two terms may cancel."""
    return True if a is True and b is True else None


ZERO = Knowledge(True, True, True, True, True, True)
