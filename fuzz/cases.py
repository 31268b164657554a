"""What a case is: terms, constraints and a call as plain data, and their Python source."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Code:
    """Python source that stands for a value, such as a user's callable."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Term:
    """A constructor or method of the library by name, its arguments, and the terms that it is made of.

    ``data`` holds numbers, strings, nested lists and :class:`Code`; ``parts`` are the functions inside.
    """

    kind: str
    data: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Term, ...] = ()
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # for the referee

    def walk(self) -> Iterator[Term]:
        """The term and all inside it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def source(self) -> str:
        """Python source that builds it."""
        if self.kind == "Combination":
            pairs = zip(self.data["coefficients"], self.parts)
            return "(" + " + ".join(f"{a!r} * {part.source}" for a, part in pairs) + ")"
        if self.kind == "Difference":
            return f"({self.parts[0].source} - {self.parts[1].source})"
        if self.kind in ("restrict", "complement", "relabel", "declare"):
            return f"{self.parts[0].source}.{self.kind}({self._arguments})"
        inside = "".join(f"{part.source}, " for part in self.parts)
        return f"ds.{self.kind}({inside}{self._arguments})"

    @property
    def _arguments(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.data.items())


@dataclass(frozen=True)
class Case:
    """One call of the library, or several that belong together.

    ``plan`` is "minimize", "enumerate" (with ``k`` and ``within`` among the options) or "resume", where the call is
    made once with each of ``node_limits`` and once more without, on the same checkpoint. If ``searched``, few sets are
    no reason to look at all of them, so that presolve and engines are met by the default, too.
    """

    objective: Term
    constraints: tuple[Term, ...] = ()
    solver: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    plan: str = "minimize"
    node_limits: tuple[int, ...] = ()
    searched: bool = False

    @property
    def solver_name(self) -> str:
        """The class of the solver."""
        return "default" if self.solver is None else self.solver.removeprefix("ds.").partition("(")[0]

    @property
    def families(self) -> set[str]:
        """Every family and operation in the objective."""
        return {term.kind for term in self.objective.walk()}

    def call(self, extra: dict[str, Any] | None = None) -> str:
        """Source of the call."""
        options = {
            "solver": Code(str(self.solver)),
            "constraints": Code("constraints"),
            **self.options,
            **(extra or {}),
        }
        name = "enumerate_best" if self.plan == "enumerate" else "minimize"
        return f"ds.{name}(objective, " + ", ".join(f"{key}={value!r}" for key, value in options.items()) + ")"

    def calls(self, checkpoint: str) -> list[str]:
        """Source of all calls of the plan, in order."""
        if self.plan != "resume":
            return [self.call()]
        limited = [self.call({"checkpoint": checkpoint, "node_limit": limit}) for limit in self.node_limits]
        return [*limited, self.call({"checkpoint": checkpoint})]

    def script(self, failures: list[str]) -> str:
        """A reproducer."""
        lines = ['"""' + "\n".join(failures).replace('"""', "'''") + '"""', "from math import inf", ""]
        lines += ["import numpy as np", "", "import dsprog as ds", "from dsprog.solve.rules import number_of_sets", ""]
        lines += ["number_of_sets.MOST_WORK = -1  # engines, not enumeration", ""] if self.searched else []
        lines += [f"objective = {self.objective.source}"]
        lines += ["constraints = [" + ", ".join(term.source for term in self.constraints) + "]"]
        lines += [f"print({call})" for call in self.calls("/tmp/fuzz_checkpoint.npz")]
        return "\n".join(lines) + "\n"

    def without_options(self, name: str) -> Case:
        """The same without one option."""
        return replace(self, options={key: value for key, value in self.options.items() if key != name})

    @property
    def missing(self) -> str:
        """A package that the case needs and that is not installed, or nothing."""
        named = self.solver or ""
        needs = {"pyscipopt": "scip" in named.lower(), "highspy": self.solver_name in ("CompactModel", "Race")}
        return next((name for name, asked in needs.items() if asked and importlib.util.find_spec(name) is None), "")


def names() -> dict[str, Any]:
    """What the source of a case may mention."""
    import dsprog

    return {"ds": dsprog, "np": np, "inf": inf}
