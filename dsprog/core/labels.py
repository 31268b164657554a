"""Names of elements: what a user calls them, kept beside the numbers 0 .. n-1 that everything else works with.

Every family takes ``labels=[...]``; where they are left out, the columns of a pandas table, the index of a series and
the nodes of a graph are kept if there is one for each element. Names change nothing in a function: they are carried to
the result.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable
from typing import Any

Labels = tuple[Hashable, ...]


def as_labels(labels: Iterable[Hashable], n: int) -> Labels:
    """One name for each of n elements, all different.

    >>> as_labels("abc", 3)
    ('a', 'b', 'c')
    """
    try:
        names = tuple(labels)
        different = len(set(names)) == len(names)
    except TypeError:
        raise TypeError(f"labels must be a list of names, such as ['a', 'b'], got {labels!r}") from None
    if len(names) != n:
        raise ValueError(f"labels must have one name for each of {n} elements, got {len(names)}")
    if not different:
        raise ValueError("labels must be different from one another, got one twice")
    return names


def own_labels(data: Any) -> Labels | None:
    """The names that data brings along: columns of a table, the index of a series, nodes of a graph; None if none."""
    for kind in ("columns", "index"):
        names: Any = getattr(data, kind, None)
        if hasattr(names, "tolist"):  # a pandas index; the plain numbers of a default one are no names
            return None if type(names).__name__ == "RangeIndex" else tuple(names.tolist())
    if hasattr(data, "nodes") and hasattr(data, "is_directed"):
        nodes = tuple(data.nodes)
        return None if nodes == tuple(range(len(nodes))) else nodes
    return None


def found_labels(arguments: Iterable[Any], n: int) -> Labels | None:
    """The names in the first argument that brings one for each of n elements."""
    for data in arguments:
        names = own_labels(data)
        if names is not None and len(names) == n and len(set(names)) == n:
            return names
    return None


def joined_labels(several: Iterable[Labels | None]) -> Labels | None:
    """The names of functions that are added up: those that have any must agree."""
    found: Labels | None = None
    for labels in several:
        if found is not None and labels is not None and labels != found:
            raise ValueError(f"functions must have the same labels in one order, got {found!r} and {labels!r}")
        found = found if labels is None else labels
    return found


def taking_labels(init: Callable[..., None]) -> Callable[..., None]:
    """An ``__init__`` that takes ``labels``, too, and keeps the names that its data brings along."""

    @functools.wraps(init)
    def labelled_init(self: Any, *arguments: Any, labels: Iterable[Hashable] | None = None, **named: Any) -> None:
        init(self, *arguments, **named)
        if labels is not None:
            self._labels = as_labels(labels, self.n)
        elif hasattr(self, "n"):
            names = found_labels((*arguments, *named.values()), self.n)
            if names is not None:
                self._labels = names

    return labelled_init


def with_labels_in(signature: inspect.Signature) -> inspect.Signature:
    """The signature of a family, with ``labels`` at its end."""
    if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        return signature
    own = inspect.Parameter("labels", inspect.Parameter.KEYWORD_ONLY, default=None)
    named = [p for p in signature.parameters.values() if p.name != "self"]
    return signature.replace(parameters=[*named, own])
