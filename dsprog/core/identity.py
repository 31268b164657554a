"""What makes a function, or a constraint, the same as another: its class and the arguments that build it again.

A class stores every argument of its ``__init__`` under the argument's own name. So objects are compared by content,
and saved as the name of their class with their arguments; a class enters the registry of its kind when it is defined.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np


class Registry:
    """Classes by name. A class that is defined again takes its own place; of two classes with one name, neither can be
    saved or read.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes: dict[str, dict[str, type]] = {}

    def add(self, cls: type) -> None:
        """Enter a class."""
        self._classes.setdefault(cls.__name__, {})[f"{cls.__module__}.{cls.__qualname__}"] = cls

    def find(self, name: str) -> type:
        """The class of that name."""
        found = self._classes.get(name, {})
        if not found:
            raise ValueError(f"unknown {self.kind} {name!r}: import the module that defines it first")
        if len(found) > 1:
            raise ValueError(f"the {self.kind} {name!r} is defined more than once: {', '.join(sorted(found))}")
        return next(iter(found.values()))


def arguments(thing: Any) -> dict[str, Any]:
    """The arguments that build an object again; AttributeError if it does not store them."""
    names = [name for name in inspect.signature(type(thing).__init__).parameters if name != "self"]
    return {name: getattr(thing, name) for name in names}


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
