"""Input checks at the door: which argument, what was expected, what came."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Masks = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


LARGEST = 1e300  # of the sum of all |entries| of one argument: beyond, sums of values would overflow
LARGEST_ROOT = 1e150  # the same for what is squared


def as_matrix(
    value: ArrayLike, name: str, *, shape: tuple[int | None, ...], nonnegative: str = "", largest: float = LARGEST
) -> Floats:
    """A finite read-only float array of the given shape (None: any length), whose absolute entries add up to at most
    ``largest``; ``nonnegative`` says why it must be.
    """
    array = as_reals(value, name)
    check_shape(array, name, shape)
    check_size(array, name, largest)
    if nonnegative and array.size and array.min() < 0:
        where = first_index(array < 0)
        raise ValueError(f"{name} must be non-negative ({nonnegative}), got {array[where]:g} at index {where}")
    array.setflags(write=False)
    return array


def as_reals(value: ArrayLike, name: str) -> Floats:
    """A new float array of any shape; words, dates, complex numbers and gaps are no numbers."""
    check_real(value, name)
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biufO" or (given.dtype.kind == "O" and any(map(is_no_number, given.flat))):
            raise TypeError
        return np.array(given, dtype=float, order="C")
    except (TypeError, ValueError, OverflowError):
        kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
        raise TypeError(f"{name} must be an array of numbers, got {kind}") from None


def check_real(value: Any, name: str) -> None:
    """Refuse complex numbers, and the gaps of masked arrays."""
    if np.iscomplexobj(value) or (isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)):
        raise TypeError(f"{name} must be an array of real numbers without gaps, got a complex or masked array")


def is_no_number(value: object) -> bool:
    """Whether an object would become a number only by force: a word, a date, a complex number."""
    return isinstance(value, (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64))


def check_shape(array: np.ndarray, name: str, shape: tuple[int | None, ...]) -> None:
    """Refuse an array of another shape; None stands for any length."""
    if array.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, array.shape)):
        raise ValueError(f"{name} must have shape {shape_words(shape)}, got {array.shape}")


def check_size(array: Floats, name: str, largest: float = LARGEST) -> None:
    """Refuse entries that are not finite, and ones so large that sums of them would not be.

    Nearly always Σ|a| <= √(n Σa²), which needs no memory for |a|, is enough to know; else it is infinite or no number.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.sqrt(array.size * np.vdot(array, array)) <= 0.99 * largest:
            return
        total = float(np.abs(array).sum())
    if total <= largest:
        return
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity at index {first_index(~np.isfinite(array))}")
    raise ValueError(f"{name} must have absolute values that add up to at most {largest:g}, got {total:g}")


def as_sparse(value: Any, name: str, square: bool = True) -> Any:
    """A CSR matrix without stored zeros, from a dense or scipy.sparse one."""
    import scipy.sparse as sparse

    if not sparse.issparse(value):
        value = as_matrix(value, name, shape=(None, None))
    elif value.ndim != 2 or value.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be a matrix of real numbers, got {value.dtype} of shape {value.shape}")
    matrix = sparse.csr_array(value, dtype=float, copy=True)
    if square and matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, got {matrix.shape}")
    check_size(matrix.data, name)  # before duplicates are added up
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def as_codes(value: Any, name: str, *, shape: tuple[int | None, ...]) -> Ints:
    """Discrete data as integer codes 0, 1, ... in each column, whatever the values are."""
    check_real(value, name)
    array = np.asarray(value)
    if array.dtype.kind in "US" and not isinstance(value, np.ndarray):
        array = np.asarray(value, dtype=object)  # a NaN among words would have become the word "nan"
    check_shape(array, name, shape)
    if array.dtype.kind in "mMV":
        raise TypeError(f"{name} must be discrete values such as whole numbers or words, got {array.dtype}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} must have no missing values, got NaN or infinity")
    if array.dtype.kind == "O" and any(map(is_missing, array.flat)):
        raise ValueError(f"{name} must have no missing values, got None, NaN or NaT")
    if array.dtype.kind == "O" and any(isinstance(entry, (complex, np.complexfloating)) for entry in array.flat):
        raise TypeError(f"{name} must be discrete values such as whole numbers or words, got complex numbers")
    if array.ndim == 1:
        return numbered(array)
    codes = np.empty(array.shape, dtype=np.int64)
    for j in range(array.shape[1]):
        codes[:, j] = numbered(array[:, j])
    return codes


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA: none of them equals itself."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def numbered(column: np.ndarray) -> Ints:
    """Codes 0, 1, ... of the distinct values of a column, in sorted order, or of appearance if there is none."""
    if column.dtype.kind in "iu" and len(column):
        least, most = int(column.min()), int(column.max())
        if most - least <= 2 * len(column) and most < 1 << 63:  # few distinct numbers need no sorting
            shifted = column.astype(np.int64) - least
            return (np.cumsum(np.bincount(shifted) > 0) - 1)[shifted]
    try:
        return np.unique(column, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        return by_appearance(column)


def by_appearance(column: np.ndarray) -> Ints:
    """Codes 0, 1, ... of the distinct values of a column in the order of their appearance."""
    numbers: dict[Any, int] = {}
    try:
        return np.array([numbers.setdefault(value, len(numbers)) for value in column], dtype=np.int64)
    except TypeError:
        raise TypeError("discrete values must be numbers, words or other things that can be hashed") from None


def as_whole(value: ArrayLike, name: str, *, shape: tuple[int | None, ...]) -> Ints:
    """An array of whole numbers, none negative: it counts or numbers things."""
    array = as_matrix(value, name, shape=shape, nonnegative="it counts or numbers things")
    wrong = (array % 1 != 0) | (array >= 2.0**53)
    if wrong.any():
        raise ValueError(f"{name} must be whole numbers below 2**53, got {array[first_index(wrong)]:g}")
    return array.astype(np.int64)


def as_count(value: Any, name: str, *, least: int = 0, most: int = 1 << 62) -> int:
    """A whole number from ``least`` to ``most``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {shortened(value)}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {shortened(value)}")
    if value > most:
        raise ValueError(f"{name} must be at most {most}, got {shortened(value)}")
    return int(value)


def as_seed(value: Any, name: str = "seed") -> int | None:
    """A whole number at least 0, or None for none."""
    return None if value is None else as_count(value, name)


def as_claim(value: Any, name: str) -> bool | None:
    """True, False, or None for unknown."""
    if value is not None and not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True, False or None, got {shortened(value)}")
    return None if value is None else bool(value)


def as_flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {shortened(value)}")
    return bool(value)


def as_number(value: Any, name: str) -> float:
    """A finite number of absolute value at most 1e300."""
    try:
        if is_no_number(value):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number, got {shortened(value)}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    if abs(number) > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST:g} in absolute value, got {number:g}")
    return number


def as_mask(S: Iterable[int] | ArrayLike, n: int, name: str = "S") -> Masks:
    """The boolean vector of a set given by its elements or by a boolean mask of length n."""
    if not isinstance(S, Iterable) or hasattr(S, "tocsr"):
        raise TypeError(f"{name} must be elements (whole numbers from 0 to {n - 1}) or a boolean mask, got {S!r}")
    array = np.asarray(S if isinstance(S, np.ndarray) else list(S))
    if array.dtype == bool and array.size:
        if array.shape != (n,):
            raise ValueError(f"{name} as a boolean mask must have shape ({n},), got {array.shape}")
        return array
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be elements (whole numbers from 0 to {n - 1}) or a boolean mask, got {S!r}")
    outside = array[(array < 0) | (array >= n)] if array.size else array
    if outside.size:
        raise ValueError(f"{name} must have elements from 0 to {n - 1}, got {outside[0]}")
    mask = np.zeros(n, dtype=bool)
    mask[array.astype(np.int64)] = True
    if mask.sum() != array.size:
        raise ValueError(f"{name} must name each element once, got {sorted(array.tolist())}")
    return mask


def as_masks(masks: ArrayLike, n: int, name: str = "masks") -> Masks:
    """A batch of sets: a (B, n) array of booleans, or of zeros and ones."""
    array = np.asarray(masks)
    if array.ndim != 2 or array.shape[1] != n:
        raise ValueError(f"{name} must have shape (B, {n}), got {array.shape}")
    if array.dtype != bool:
        if array.dtype.kind not in "iuf" or not np.isin(array, (0, 1)).all():
            raise TypeError(f"{name} must be boolean or 0/1, got {array.dtype} with other values")
        array = array.astype(bool)
    return np.ascontiguousarray(array)


def chosen_entries(masks: Masks, among: Masks | None) -> Masks:
    """Which entries of a batch are asked for: all of them if nobody says."""
    return np.ones(masks.shape, dtype=bool) if among is None else among


def all_masks(n: int) -> Masks:
    """All subsets; bit j of the row number says whether element j is in the set."""
    return (np.arange(1 << n, dtype=np.int64)[:, None] >> np.arange(n)) & 1 == 1


def both_ends(n: int) -> Masks:
    """The empty and the full set."""
    return np.array([np.zeros(n, dtype=bool), np.ones(n, dtype=bool)])


def as_orders(orders: ArrayLike, n: int) -> Ints:
    """A batch of orders: a (B, m) array of elements, -1 where an order has ended."""
    array = np.asarray(orders)
    if array.ndim != 2 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"orders must be a (B, m) array of whole numbers, got {array.dtype} of shape {array.shape}")
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array.size and (array.min() < -1 or array.max() >= n):
        raise ValueError(
            f"orders must have elements from 0 to {n - 1} (or -1 at the end), got {array.min()}..{array.max()}"
        )
    return array


def as_points(x: ArrayLike, n: int, name: str = "x") -> Floats:
    """A batch of points: a (B, n) array of finite numbers."""
    array = as_reals(x, name)
    if array.ndim != 2 or array.shape[1] != n:
        raise ValueError(f"{name} must have shape (B, {n}), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return array


def as_cube_points(x: ArrayLike, n: int, name: str = "x") -> Floats:
    """A batch of points of the cube: a (B, n) array of numbers from 0 to 1."""
    array = as_points(x, n, name)
    if array.size and (array.min() < 0 or array.max() > 1):
        raise ValueError(f"{name} must lie in the cube, from 0 to 1, got {array.min():g}..{array.max():g}")
    return array


def as_permutation(order: ArrayLike, n: int, name: str) -> Ints:
    """A permutation of 0..n-1."""
    array = np.asarray(order)
    if array.shape != (n,) or not np.array_equal(np.sort(array), np.arange(n)) or (n and array.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be a permutation of 0..{n - 1}, got {order!r}")
    return array.astype(np.int64)


def elements(mask: Masks) -> tuple[int, ...]:
    """The elements of a set, in order."""
    return tuple(np.flatnonzero(mask).tolist())


def shortened(value: object, most: int = 60) -> str:
    """A value as Python writes it, cut where it would fill a screen."""
    try:
        words = repr(value)
    except ValueError:  # a whole number of more digits than Python prints
        words = type(value).__name__
    return words if len(words) <= most else words[: most - 3] + "..."


def shape_words(shape: tuple[int | None, ...]) -> str:
    """A shape in words, with ``any`` for a free length."""
    return "(" + ", ".join("any" if s is None else str(s) for s in shape) + ("," if len(shape) == 1 else "") + ")"


def first_index(where: NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(int(i) for i in np.argwhere(where)[0])


def count_sizes(m: int, least: int, most: int) -> int:
    """How many subsets of m elements have a size from ``least`` to ``most``; the count ends beyond 2**60.

    >>> count_sizes(60, 3, 3)
    34220
    """
    total = 0
    for size in range(least, most + 1):
        total += math.comb(m, size)
        if total > 1 << 60:
            break
    return total
