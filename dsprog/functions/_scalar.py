"""Concave functions of one number: by name, compiled, or as a user's callable, which is checked.

Where φ has infinite slope at 0 (the square root), its secant to the smallest argument that a set attains stands in for
it: no set lies strictly between, so values at sets stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsprog.core.kernel import part
from dsprog.core.validation import Floats, as_number

Phi = Callable[[Any], Any]
KINDS = {"sqrt": 0, "log1p": 1, "power": 2, "truncate": 3}
DEFAULT_PARAMETER = {"power": 0.5, "truncate": 1.0}


@dataclass(frozen=True)
class Scalar:
    """A concave function φ of one number, with its slope where it is known."""

    phi: Phi
    slope: Phi | None
    code: int  # of KINDS, or -1 for a callable
    parameter: float
    increasing: bool

    def least_bend(self, largest: Floats) -> Floats:
        """The least h with -φ'' >= h on [0, largest], where φ is known by name: every |φ''| there falls."""
        if self.code < 0:
            return np.zeros(largest.shape)
        t = np.where(largest > 0, largest, np.inf)
        if KINDS["power"] == self.code:
            return self.parameter * (1.0 - self.parameter) * np.power(t, self.parameter - 2.0)
        return 0.25 * t**-1.5 if KINDS["sqrt"] == self.code else (1.0 + t) ** -2.0 * (KINDS["log1p"] == self.code)

    def secant(self, t: Floats, smallest: Floats | float, bend: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """φ and a slope at t, with φ replaced by its secant on [0, smallest], bent by ``bend``; concave, equal to φ at
        0 and from there on.
        """
        assert self.slope is not None
        at_zero = self.phi(np.zeros(1))[0]
        rise = (self.phi(smallest) - at_zero) / np.where(np.asarray(smallest) > 0, smallest, 1.0)
        low = t < smallest
        inner = np.where(low, smallest, t)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(low, rise + 0.5 * bend * (smallest - 2.0 * t), self.slope(np.where(inner > 0, inner, 1.0)))
        return np.where(low, at_zero + rise * t + 0.5 * bend * t * (smallest - t), self.phi(inner)), slope


def as_scalar(concave: str | Phi | tuple[Phi, Phi], parameter: float | None, largest: float) -> Scalar:
    """The scalar function that a user named, or gave as φ or as (φ, φ'); a callable is checked on [0, largest]."""
    if isinstance(concave, str):
        if concave not in KINDS:
            raise ValueError(f"concave must be one of {', '.join(KINDS)} or a callable, got {concave!r}")
        p = as_number(DEFAULT_PARAMETER.get(concave, 0.0) if parameter is None else parameter, "parameter")
        if concave == "power" and not 0 <= p <= 1:
            raise ValueError(f"parameter must lie in [0, 1] for the power to be concave, got {p:g}")
        if concave == "truncate" and p < 0:
            raise ValueError(f"parameter, the cap, must be non-negative, got {p:g}")
        return Scalar(Named(concave, p), Named(concave, p, slope=True), KINDS[concave], p, True)
    phi: Phi
    slope: Phi | None
    phi, slope = concave if isinstance(concave, tuple) else (concave, None)
    if not callable(phi):
        raise TypeError(f"concave must be a name or a callable, got {type(phi).__name__}")
    return Scalar(phi, slope, -1, 0.0, check_concave(phi, slope, largest))


@dataclass(frozen=True)
class Named:
    """φ by name, or its slope; objects rather than closures, so that functions can be pickled."""

    name: str
    p: float
    slope: bool = False

    def __call__(self, t: Any) -> Any:
        """φ(t), or φ'(t)."""
        if self.name == "sqrt":
            return 0.5 / np.sqrt(t) if self.slope else np.sqrt(t)
        if self.name == "log1p":
            return 1.0 / (1.0 + t) if self.slope else np.log1p(t)
        if self.name == "power":
            return self.p * np.power(t, self.p - 1.0) if self.slope else np.power(t, self.p)
        return np.where(t < self.p, 1.0, 0.0) if self.slope else np.minimum(t, self.p)


def check_concave(phi: Phi, slope: Phi | None, largest: float, points: int = 129) -> bool:
    """Refuse a callable that is not concave on [0, largest], seen on all scales; say whether it increases there."""
    largest = largest if largest > 0 else 1.0
    grid = np.union1d(np.linspace(0.0, largest, points), np.geomspace(1e-9 * largest, largest, points))
    values = evaluated(phi, grid, "concave")
    slack = 1e-9 * max(1e-300, np.abs(values).max())
    steps = np.diff(values)
    rise = np.diff(steps / np.diff(grid)) * np.minimum(np.diff(grid)[1:], np.diff(grid)[:-1])
    if (rise > slack).any():
        where = grid[rise.argmax() + 1]
        raise ValueError(f"concave must be concave on [0, {largest:g}], but its slope rises near {where:g}")
    if slope is not None:
        slopes = evaluated(slope, grid[1:], "the slope of concave")
        above = values[1:, None] + slopes[:, None] * (grid - grid[1:, None])  # each tangent at all points
        if (above < values - slack).any():
            raise ValueError("the slope of concave must give tangents above it, but one lies below")
    return bool((steps >= -slack).all())


def evaluated(phi: Phi, grid: Floats, name: str) -> Floats:
    """A user's function on a grid, checked."""
    try:
        values = np.asarray(phi(grid), dtype=float)
    except Exception as error:
        raise TypeError(
            f"{name} must accept an array of numbers, but it raised {type(error).__name__}: {error}"
        ) from error
    if values.shape != grid.shape or not np.isfinite(values).all():
        raise ValueError(f"{name} must return a finite number for each number given, got shape {values.shape}")
    return values


@part
def phi_of(code, parameter, t):
    """φ(t) for a code of KINDS."""
    if code == 0:
        return np.sqrt(t)
    if code == 1:
        return np.log1p(t)
    if code == 2:
        return t**parameter if t > 0 else (1.0 if parameter == 0 else 0.0)
    return min(t, parameter)


@part
def slope_of(code, parameter, t):
    """A slope of φ at t > 0."""
    if code == 0:
        return 0.5 / np.sqrt(t)
    if code == 1:
        return 1.0 / (1.0 + t)
    if code == 2:
        return parameter * t ** (parameter - 1.0)
    return 1.0 if t < parameter else 0.0
