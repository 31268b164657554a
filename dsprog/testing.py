"""A public test kit: prove that a set function or a solver of your own does what it says.

>>> import dsprog as ds
>>> ds.testing.check_set_function(ds.Coverage([[1, 0, 1], [0, 1, 1]]))
>>> ds.testing.check_solver(ds.BruteForce(), largest=4)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.constraints import all_rows
from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.submodularity import Submodularity
from dsprog.core.submodularity import is_submodular as function_is_submodular
from dsprog.core.validation import Floats, Masks
from dsprog.exact.compact.model import Model
from dsprog.functions.from_callable import FromCallable
from dsprog.functions.table import Table, all_masks
from dsprog.generators import FAMILIES
from dsprog.run.result import STATUSES, Result
from dsprog.run.solver import Solver
from dsprog.solve.minimize import minimize

__all__ = ["Submodularity", "check_result", "check_set_function", "check_solver", "is_submodular"]


def is_submodular(
    f: SetFunction | Callable[[Any], Any],
    samples: int = 2000,
    seed: int = 0,
    tolerance: float = 1e-9,
    n: int | None = None,
) -> Submodularity:
    """Check every triple (S, i, j) for n up to 10, a sample beyond.

    Parameters
    ----------
    f : SetFunction or callable
        A callable takes a frozenset of elements, as in :class:`dsprog.FromCallable`, and needs ``n``.
    samples, seed : int
        Of the sample.
    tolerance : float
        What counts as rounding, relative to the range of the values.
    n : int, optional
        Size of the ground set of a callable.

    Examples
    --------
    >>> import dsprog as ds
    >>> bool(ds.testing.is_submodular(ds.CardinalityConcave(6)))
    True
    >>> ds.testing.is_submodular(lambda S: len(S) ** 2, n=3).violation
    ((), 0, 1)
    """
    if isinstance(f, SetFunction):
        if n not in (None, f.n):
            raise ValueError(f"n must be left out, or be that of f, {f.n}: got {n}")
        return function_is_submodular(f, samples, seed, tolerance)
    if not callable(f) or n is None:
        raise TypeError(f"f must be a SetFunction, or a callable with n=..., got {type(f).__name__} without n")
    return function_is_submodular(FromCallable(f, n), samples, seed, tolerance)


def check_set_function(f: SetFunction, seed: int = 0, samples: int = 40, tolerance: float = 1e-8) -> None:
    """Assert that a set function keeps its promises; raise AssertionError with a sentence if not.

    Checked against the definitions, on random, empty and full sets: values are finite and repeatable, ``marginals``
    and ``chains`` equal their slow defaults (from any start, with repeated and ended orders), the concave extension
    equals f at binary points, is concave, and has its tangents above f; nothing that the function claims to know, or
    says about its structure (groups, spans, quadratic form, columns, restriction), is refuted.

    >>> import dsprog as ds
    >>> ds.testing.check_set_function(ds.FromCallable(lambda S: len(S) ** 2, 3, submodular=True))
    Traceback (most recent call last):
    ...
    AssertionError: the function claims to be submodular but is not submodular: ...
    """
    rng = np.random.default_rng(seed)
    masks = random_masks(rng, samples, f.n)
    values = f.values(masks)
    scale = max(1e-12, float(np.abs(values).max(initial=0.0)))
    require(values.shape == (len(masks),), f"values must have shape ({len(masks)},), got {values.shape}")
    require(np.isfinite(values).all(), "values must be finite")
    assert_close(f.values(masks[::-1])[::-1], values, scale * tolerance, "values must not depend on the batch")
    assert_close(
        f.marginals(masks), SetFunction._marginals(f, masks), scale * tolerance, "marginals must equal their default"
    )
    among = rng.random(masks.shape) < 0.5
    wanted, some = SetFunction._marginals(f, masks)[among], f.marginals(masks, among)[among]
    assert_close(some, wanted, scale * tolerance, "marginals among some elements must equal their default")
    orders, start = random_orders(rng, samples, f.n), random_masks(rng, samples, f.n)[:samples]
    default = SetFunction._chains(f, orders, start)
    assert_close(f.chains(orders, start), default, scale * tolerance, "chains must equal their default")
    if f.has_concave_extension:
        check_concave_extension(f, rng, masks, values, scale, tolerance)
    check_curvature(f, rng, masks, values, scale * tolerance)
    check_knowledge(f, rng, samples, scale * tolerance)
    check_structure(f, rng, masks, values, scale * tolerance)


def check_concave_extension(
    f: SetFunction, rng: np.random.Generator, masks: Masks, values: Floats, scale: float, tolerance: float
) -> None:
    """G equals f at binary points, lies above its chords and below its tangents, which lie above f and touch G inside
    the cube.
    """
    at_binary = f.concave_extension(masks.astype(float))
    assert_close(at_binary, values, scale * tolerance, "the concave extension must equal f at binary points")
    x, z = rng.random((2, len(masks), f.n))
    G, weight = f.concave_extension, rng.random((len(masks), 1))
    chord = weight[:, 0] * G(x) + (1 - weight[:, 0]) * G(z)
    require(
        (G(weight * x + (1 - weight) * z) >= chord - scale * tolerance).all(), "the concave extension must be concave"
    )
    for points, touches in ((x, True), (masks.astype(float), False)):
        constants, slopes = f.tangents(points)
        above = constants[:, None] + slopes @ masks.T
        require((above >= values - scale * tolerance).all(), "tangents must lie above f")
        if touches:
            there = constants + (slopes * points).sum(axis=1)
            require(
                (there <= G(points) + scale * 1e-4).all(), "tangents must touch the concave extension inside the cube"
            )


def check_curvature(f: SetFunction, rng: np.random.Generator, masks: Masks, values: Floats, slack: float) -> None:
    """Second differences reach the claimed curvature, and tangents, near the corners too, have the room it claims."""
    H = f.curvature()
    if H is None:
        return
    require(bool((H >= 0).all() and (H == H.T).all()), "the curvature must be symmetric and non-negative")
    for j in range(f.n):
        without, with_j = masks.copy(), masks.copy()
        without[:, j], with_j[:, j] = False, True
        drop = np.where(masks, np.inf, f.marginals(without) - f.marginals(with_j))
        drop[:, j] = np.inf
        require(bool((drop >= H[j] - slack).all()), "the curvature must not exceed second differences")
    if f.has_concave_extension:
        points = rng.random((len(masks), f.n)) ** rng.choice([1, 8, 40], (len(masks), 1))
        constants, slopes = f.tangents(points)
        apart = masks[None] - points[:, None]
        room = 0.5 * np.einsum("psi,ij,psj->ps", apart, H, apart)
        above = constants[:, None] + slopes @ masks.T - room
        require(bool((above >= values - slack).all()), "tangents must have the room that the curvature claims")


def check_knowledge(f: SetFunction, rng: np.random.Generator, samples: int, slack: float) -> None:
    """No claim of the function is refuted by a sample."""
    masks = random_masks(rng, 5 * samples, f.n)
    values, marginals, knows = f.values(masks), f.marginals(masks), f.knows
    if knows.submodular:
        found = is_submodular(f)
        require(found, f"the function claims to be submodular but is {found.sentence()}")
    if knows.supermodular:
        found = is_submodular(-1.0 * f)
        require(found, f"the function claims to be supermodular, but its negative is {found.sentence()}")
    require(not knows.increasing or (marginals >= -slack).all(), "the function claims to be increasing")
    require(not knows.decreasing or (marginals <= slack).all(), "the function claims to be decreasing")
    require(not knows.integral or (values % 1 == 0).all(), "the function claims to be integral")
    if knows.symmetric:
        assert_close(f.values(~masks), values, slack, "the function claims to be symmetric")


def check_structure(f: SetFunction, rng: np.random.Generator, masks: Masks, values: Floats, slack: float) -> None:
    """What the function says about its structure holds at the given sets."""
    together, spanned = np.eye(f.n, dtype=bool), f.spans()
    for group in f.groups():
        together[np.ix_(group, group)] = True
    for j in np.flatnonzero(~together.all(axis=1)):
        others = np.arange(f.n) != j
        change = f.marginals(masks | ~others) - f.marginals(masks & others)
        require((np.abs(change[:, ~together[j]]) <= 4 * slack).all(), f"no group joins {j} with others that it changes")
    for k, by_k in enumerate([] if spanned is None else spanned & ~np.eye(f.n, dtype=bool)):
        left = f.marginals(masks | (np.arange(f.n) == k))[:, by_k] if by_k.any() else np.zeros(0)
        require((np.abs(left) <= 4 * slack).all(), f"{k} does not span what it claims to")
    few = np.arange(1, min(f.n, 5))
    given = masks[len(masks) // 2] & (np.arange(f.n) >= 5)
    if f.n:
        own, slow = f.gain_table(0, few, given), SetFunction.gain_table(f, 0, few, given)
        assert_close(own, slow, 4 * slack, "a gain table must equal f(j|U)")
    form = f.quadratic_form()
    if form is not None:
        assert_close(form.values(masks), values, slack, "the quadratic form must equal f")
    check_transforms(f, rng, masks, slack)
    if f.has_columns:
        check_columns(f, masks[:: max(1, len(masks) // 5)], slack)


def check_transforms(f: SetFunction, rng: np.random.Generator, masks: Masks, slack: float) -> None:
    """Restriction, complement and relabelling follow their definitions."""
    inside, allowed = rng.random((2, f.n)) < [[0.3], [0.7]]
    allowed |= inside
    restricted = f.restrict(np.flatnonzero(inside), np.flatnonzero(allowed))
    wanted, free = f.values((masks & allowed) | inside), allowed & ~inside
    assert_close(restricted.values(masks[:, free]), wanted, slack, "a restriction must equal f on its interval")
    assert_close(f.complement().values(masks), f.values(~masks), slack, "the complement must equal f at V∖S")
    order = rng.permutation(f.n)
    seen = f.relabel(order).values(masks[:, order])
    assert_close(seen, f.values(masks), slack, "a relabelled function must equal f")


def check_columns(f: SetFunction, masks: Masks, slack: float) -> None:
    """The under expression of the columns lies below f, the over expression above it."""
    for weight in (1.0, -1.0):
        model = Model(f.n, all_rows((), f.n), 1.0)
        model.minimise(model.enter(f, model.x, weight).scaled(weight))
        ends = np.array([(curve.lowest, curve.highest) for curve in model.curves]).reshape(-1, 2)
        model.set_intervals(ends[:, 0], ends[:, 1])
        for mask, value in zip(masks, f.values(masks)):
            for column, inside in zip(model.x, mask):
                model.programme.limit(int(column), float(inside), float(inside))
            bound = model.programme.relaxed().bound
            side = "under" if weight > 0 else "over"
            require(model.unproved or bound <= weight * value + slack + 1e-7, f"the {side} expression must bound f")


def check_solver(
    solver: Solver, families: Iterable[str] = tuple(FAMILIES), largest: int = 7, seeds: Iterable[int] = (0, 1)
) -> None:
    """Assert that a solver agrees with enumeration, or at least never claims what is not so.

    Crosses families with n = 0, 1, ..., ``largest`` and checks the plain instance, the same shifted by a constant,
    relabelled, rounded until values tie, with f = g, and a modular one.

    >>> import dsprog as ds
    >>> ds.testing.check_solver(ds.BruteForce(), families=["cut"], largest=3)
    """
    for name in families:
        for n in range(0, largest + 1):
            for seed in seeds:
                for variant, objective in variants(FAMILIES[name](n, seed), seed):
                    try:
                        check_result(minimize(objective, solver, seed=seed), objective)
                    except AssertionError as error:
                        raise AssertionError(f"{solver!r} on {name} n={n} seed={seed} ({variant}): {error}") from None


def variants(objective: Difference, seed: int) -> list[tuple[str, Difference]]:
    """An instance as it is, shifted, relabelled, rounded until values tie, and with f = g."""
    n = objective.n
    permutation = np.random.default_rng(seed).permutation(n)
    rounded = Table(np.round(2 * Table.of(objective).table) / 2)
    return [
        ("plain", objective),
        ("shifted", Difference(objective + 1000.0)),
        ("relabelled", Difference(objective.relabel(permutation))),
        ("tied", Difference(rounded)),
        ("f = g", Difference(objective.f, objective.f)),
        ("modular", Difference(Modular(np.round(np.random.default_rng(seed).normal(size=n))))),
    ]


def check_result(result: Result, objective: SetFunction, feasible: Masks | None = None) -> None:
    """Assert that a result's set, value, bound and certificate agree with enumeration over (the feasible) sets.

    >>> import dsprog as ds
    >>> f = ds.CardinalityConcave(4) - ds.Modular([0.1, 0.9, 0.8, 0.3])
    >>> ds.testing.check_result(ds.minimize(f), f)
    """
    masks = all_masks(objective.n)
    values = objective.values(masks)
    if feasible is not None:
        require(feasible[sum(1 << j for j in result.S)], f"S = {result.S} is not feasible")
        values = values[feasible]
    optimum, slack = float(values.min()), 1e-8 * max(1.0, float(np.abs(values).max()))
    require(result.status in STATUSES, f"status {result.status!r} is not one of {', '.join(STATUSES)}")
    require(
        abs(result.value - objective(result.S)) <= slack,
        f"value {result.value} is not that of S, {objective(result.S)}",
    )
    require(result.value >= optimum - slack, f"value {result.value} lies below the minimum {optimum}")
    require(result.lower_bound <= optimum + slack, f"lower_bound {result.lower_bound} lies above the minimum {optimum}")
    require(result.lower_bound <= result.value, f"lower_bound {result.lower_bound} lies above value {result.value}")
    if result.status == "optimal":
        require(result.certified, "an optimal result must be certified")
        said = result.value - result.lower_bound <= slack or "tolerances" in result.message
        require(said, f"optimal, but lower_bound {result.lower_bound} lies below value {result.value}: say so")
        require(result.value <= optimum + slack, f"claimed optimal at {result.value}, but the minimum is {optimum}")


def require(holds: object, sentence: str) -> None:
    """Raise AssertionError unless something holds; unlike ``assert`` it works under ``python -O`` too."""
    if not holds:
        raise AssertionError(sentence)


def random_masks(rng: np.random.Generator, samples: int, n: int) -> Masks:
    """Random sets of all densities, with the empty and the full set among them."""
    masks = rng.random((samples, n)) < rng.random((samples, 1))
    masks[0], masks[-1] = False, True
    return masks


def random_orders(rng: np.random.Generator, samples: int, n: int) -> np.ndarray:
    """Permutations, some of them cut short by -1, some with an element twice."""
    orders = rng.permuted(np.tile(np.arange(n), (samples, 1)), axis=1)
    if n >= 2:
        orders[1::4, rng.integers(1, n) :] = -1
        orders[2::4, -1] = orders[2::4, 0]
    return orders


def assert_close(got: Floats, wanted: Floats, slack: float, sentence: str) -> None:
    """Assert equality up to a slack and name the worst place."""
    require(got.shape == wanted.shape, f"{sentence}: shape {got.shape} is not {wanted.shape}")
    error = np.abs(got - wanted)
    if error.size and not error.max() <= slack:
        where = np.unravel_index(int(error.argmax()), error.shape)
        raise AssertionError(f"{sentence}: got {got[where]:.12g} for {wanted[where]:.12g} at {tuple(map(int, where))}")
