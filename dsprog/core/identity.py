"""What makes a function, or a constraint, the same as another: its class and the arguments that build it again.

A class stores every argument of its ``__init__`` under the argument's own name. So objects are compared by content,
and saved as the name of their class with their arguments; a class enters the registry of its kind when it is defined.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np

from dsprog.core.validation import shortened

OWN_ROOMS = ("dsprog.core.", "dsprog.functions.")  # where our families live, in files that are not private


class Registry:
    """Classes by their names in files; a class that is defined again takes its own place.

    A file names a class and never causes an import: only classes that are there already are found.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes: dict[str, type] = {}

    def add(self, cls: type) -> None:
        """Enter a class."""
        name = name_in_files(cls)
        if name is not None:
            self._classes[name] = cls

    def find(self, name: object) -> type:
        """The class of that name."""
        if not isinstance(name, str) or name not in self._classes:
            raise ValueError(f"unknown {self.kind} {shortened(name)}: import the module that defines it first")
        return self._classes[name]


def name_in_files(cls: type) -> str | None:
    """The bare name of a class of ours, ``module:Name`` of a user's, None for what serves inside a solver only.

    >>> from dsprog.core.modular import Modular
    >>> name_in_files(Modular)
    'Modular'
    """
    if not cls.__module__.startswith("dsprog."):
        return f"{cls.__module__}:{cls.__qualname__}"
    return cls.__name__ if cls.__module__.startswith(OWN_ROOMS) and "._" not in cls.__module__ else None


def arguments(thing: Any) -> dict[str, Any]:
    """The arguments that build an object again; AttributeError if it does not store them."""
    cls: Any = type(thing)
    return {name: getattr(thing, name) for name in argument_names(cls)}


@cache
def argument_names(cls: Any) -> tuple[str, ...]:
    """The arguments of ``__init__`` of a class."""
    return tuple(name for name in inspect.signature(cls.__init__).parameters if name != "self")


def summary(value: Any) -> Any:
    """Something to look up equal arguments by: equal ones have equal summaries, others mostly not."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value.shape, float(np.ascontiguousarray(value, dtype=float).sum())
    if isinstance(value, (tuple, list)):
        return tuple(map(summary, value))
    if hasattr(value, "parameters"):
        try:
            return type(value), tuple(map(summary, value.parameters().values()))
        except AttributeError:  # it does not store its arguments, and is itself only
            return type(value)
    return value if isinstance(value, (bool, int, float, str)) else type(value)


def same(a: Any, b: Any) -> bool:
    """Whether two objects are of one class with equal arguments; one that does not store them is itself only."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        mine, theirs = a.parameters(), b.parameters()
    except AttributeError:
        return False
    return all(equal_data(mine[name], theirs[name]) for name in mine)


def equal_data(a: Any, b: Any) -> bool:
    """Equality of arguments: arrays, sparse matrices, functions, tuples of these, plain values."""
    if a is b:
        return True
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(equal_data(p, q) for p, q in zip(a, b))
    if hasattr(a, "tocsr") and hasattr(b, "tocsr"):
        return a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)
