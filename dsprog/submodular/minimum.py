"""One door to the three minimisers, and what they return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.set_function import SetFunction
from dsprog.core.submodularity import refuse_refuted
from dsprog.core.validation import Floats, Masks, elements


@dataclass(frozen=True)
class SubmodularMinimum:
    """A minimiser with its certificate.

    ``lower_bound`` is valid whatever the iteration did: ``base`` is a point s of the base polytope, and every S has
    f(S) >= f(∅) + Σ_{j∈S} s_j >= f(∅) + Σ_j min(0, s_j). ``minimal`` and ``maximal`` are the smallest and the largest
    minimiser; a symmetric function over proper non-empty sets has none of either.

    >>> import dsprog as ds
    >>> minimum = ds.minimize_submodular(ds.Modular([-1.0, 0.0, 1.0]))
    >>> minimum.minimal, minimum.maximal, minimum.gap
    ((0,), (0, 1), 0.0)
    """

    S: tuple[int, ...]
    value: float
    lower_bound: float
    certified: bool
    minimal: tuple[int, ...] | None
    maximal: tuple[int, ...] | None
    method: str
    iterations: int
    message: str
    base: Floats | None = None

    @property
    def gap(self) -> float:
        """Value - lower_bound."""
        return self.value - self.lower_bound


def minimum_between(
    f: SetFunction,
    minimal: Masks,
    maximal: Masks,
    best: Masks,
    lower: float,
    slack: float,
    method: str,
    iterations: int,
    base: Floats | None = None,
    extremes: bool = True,
) -> SubmodularMinimum:
    """Recompute the values of the minimisers found and judge the gap."""
    sets = np.array([minimal, maximal, best])
    values = f.values(sets)
    value = float(values.min())
    best = sets[int(values.argmin())]
    if f.knows.integral:
        lower = float(np.ceil(lower - 1e-6))
    certified = bool(f.knows.submodular is True and value - lower <= slack)
    if f.knows.submodular is not True:
        message = "Not certified: the function is not known to be submodular."
    elif certified:
        message = "Proved minimal: the dual bound meets the value."
    else:
        message = (
            f"The gap {value - lower:.2e} did not close to {slack:.2e}: rounding in the data, or raise max_iterations."
        )
    return SubmodularMinimum(
        S=elements(best),
        value=value,
        lower_bound=min(lower, value) if f.knows.submodular is True else -np.inf,
        certified=certified,
        minimal=elements(minimal) if extremes else None,
        maximal=elements(maximal) if extremes else None,
        method=method,
        iterations=iterations,
        message=message,
        base=base,
    )


def minimize_submodular(
    f: SetFunction,
    method: str = "auto",
    *,
    gap: float = 1e-9,
    start: ArrayLike | None = None,
    max_iterations: int | None = None,
    extremes: bool = True,
) -> SubmodularMinimum:
    """Minimise a submodular function over all sets, or a symmetric one over proper non-empty sets.

    Parameters
    ----------
    f : SetFunction
        Must not be known to be other than submodular; if it is only unknown, the result is not certified.
    method : {"auto", "min_norm_point", "max_flow", "queyranne"}
        "auto" takes max-flow for graph cuts and quadratic functions, else the min-norm point. "queyranne" minimises a
        symmetric function over the sets other than ∅ and V, where the other minimisers would answer ∅.
    gap : float
        Gap to close, relative to the largest value of f met on the way.
    start : (n,) array, optional
        A point to start from, such as ``base`` of a similar problem's result (min-norm point only).
    max_iterations : int, optional
        Of the min-norm point method.
    extremes : bool
        Whether the smallest and the largest minimiser are wanted; without them the min-norm point method may stop
        earlier.

    Examples
    --------
    >>> import dsprog as ds
    >>> f = ds.Cut([[0, 2, 0], [2, 0, 1], [0, 1, 0]]) + ds.Modular([-3.0, 1.0, 1.0])
    >>> result = ds.minimize_submodular(f)
    >>> result.S, result.value, result.certified
    ((0,), -1.0, True)
    """
    from dsprog.submodular.max_flow import minimize_by_max_flow
    from dsprog.submodular.min_norm_point import minimize_by_min_norm_point
    from dsprog.submodular.queyranne import minimize_by_queyranne

    if not isinstance(f, SetFunction):
        raise TypeError(f"f must be a SetFunction, got {type(f).__name__}")
    refuse_refuted(f, "f")
    if method == "auto":
        method = "max_flow" if f.quadratic_form() is not None else "min_norm_point"
    if method == "max_flow":
        return minimize_by_max_flow(f, gap)
    if method == "queyranne":
        return minimize_by_queyranne(f)
    if method == "min_norm_point":
        return minimize_by_min_norm_point(f, gap, start, max_iterations, extremes)
    raise ValueError(f"method must be auto, min_norm_point, max_flow or queyranne, got {method!r}")
