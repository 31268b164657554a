"""What happens in one iteration of the prismatic algorithm, for those who want to look."""

from __future__ import annotations

from dataclasses import dataclass

from dsprog.core.validation import Floats, Masks


@dataclass(frozen=True)
class PrismIteration:
    """One prism was taken, cut and subdivided; what became of its parts.

    Attributes
    ----------
    number : int
        0 is the first simplex, the only one without a prism before it.
    vertices : (n + 1, n) array or None
        The simplex below the prism that was subdivided.
    optimum : (n,) array or None
        Where its programme had its optimum; a cutting plane was added there.
    parts : (k, n + 1, n) array
        The simplices of its parts that contain a set; the others are deleted at once.
    bounds : (k,) array
        A lower bound on f - g over the sets of each part.
    open : (k,) array of bool
        Whether each part stays open: its bound is below the best value.
    sets : (k, n) array of bool
        The set that each part's programme led to.
    values : (k,) array
        Their values f - g.
    value, planes : float, int
        The best value so far, and the number of cutting planes.
    """

    number: int
    vertices: Floats | None
    optimum: Floats | None
    parts: Floats
    bounds: Floats
    open: Masks
    sets: Masks
    values: Floats
    value: float
    planes: int
