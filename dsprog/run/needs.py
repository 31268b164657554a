"""What solvers and bounds need of a problem, declared by them and checked here, in one place.

>>> import dsprog as ds
>>> ds.minimize(ds.Modular([1.0, 2.0]), ds.DCA(), constraints=[ds.Cardinality(1)])
Traceback (most recent call last):
...
ValueError: DCA does not work with this problem: it needs a problem without constraints; use LocalSearch or the ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dsprog.core.constraints import Cardinality, Exclude, Include
from dsprog.core.packages import importable
from dsprog.core.problem import Problem


@dataclass(frozen=True)
class Need:
    """Something that must hold of a problem: in words, as a test, and what to do where it does not."""

    words: str
    holds: Callable[[Problem], bool]
    instead: str = "use another solver, or none: minimize chooses one that fits"


NO_CONSTRAINTS = Need(
    "a problem without constraints", lambda problem: not problem.constraints, "use LocalSearch or the default solver"
)


FRAME_CONSTRAINTS = Need(
    "no constraints but Cardinality, Include and Exclude",
    lambda problem: all(isinstance(kind, (Cardinality, Include, Exclude)) for kind in problem.constraints),
    "use LocalSearch or the default solver",
)


def installed(package: str, extra: str) -> Need:
    """A package that is not there by itself."""
    return Need(f"the package {package}", lambda problem: importable(package), f"pip install {extra}")


def check_needs(name: str, needs: Iterable[Need], problem: Problem) -> None:
    """Refuse a problem that lacks something."""
    for need in needs:
        if not need.holds(problem):
            sentence = f"{name} does not work with this problem: it needs {need.words}; {need.instead}"
            raise (ImportError if need.words.startswith("the package") else ValueError)(sentence)
