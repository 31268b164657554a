"""The loss among the terms of an objective."""

from __future__ import annotations

from typing import TypeVar

from dsprog.core.algebra import LinearCombination, Term
from dsprog.core.set_function import SetFunction

F = TypeVar("F", bound=SetFunction)


def loss_term(objective: LinearCombination, kind: type[F]) -> tuple[float, F, list[Term]] | None:
    """a, f and the other terms of a · f + others; None unless f is the one of its kind, a > 0, and all others are
    known to be submodular.
    """
    losses = [(a, f) for a, f in objective.terms if isinstance(f, kind)]
    others = [term for term in objective.terms if not isinstance(term.function, kind)]
    if len(losses) != 1 or losses[0][0] <= 0 or not all(term.knows.submodular for term in others):
        return None
    return *losses[0], others
