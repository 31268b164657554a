"""Which names of a kernel stand for one value where they are used, so that they need no memory.

Such a name is bound once, and read only after that, in the same suite of statements or in suites within.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

Path = tuple[int, ...]


@dataclass
class Use:
    """Where a name is bound and read, in the order of the text."""

    bound: list[tuple[int, Path]] = field(default_factory=list)
    read: list[tuple[int, Path]] = field(default_factory=list)

    @property
    def is_one_value(self) -> bool:
        """Whether the name always stands for what was bound last, and that is one place of the code."""
        if len(self.bound) != 1:
            return False
        ((when, where),) = self.bound
        return all(then > when and path[: len(where)] == where for then, path in self.read)


class Scopes(ast.NodeVisitor):
    """All names of a function."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.uses: dict[str, Use] = {}
        self.path: Path = ()
        self.clock = self.suites = 0
        for argument in function.args.args:
            self.bind(argument.arg)
        self.suite(function.body, ())

    @property
    def lets(self) -> set[str]:
        """Names of one value."""
        return {name for name, use in self.uses.items() if use.is_one_value}

    @property
    def locals(self) -> set[str]:
        """Names that are bound."""
        return {name for name, use in self.uses.items() if use.bound}

    def bind(self, name: str) -> None:
        """Note that a name is bound here."""
        self.clock += 1
        self.uses.setdefault(name, Use()).bound.append((self.clock, self.path))

    def suite(self, statements: list[ast.stmt], path: Path) -> None:
        """Visit statements."""
        before, self.path = self.path, path
        for statement in statements:
            self.visit(statement)
        self.path = before

    def below(self) -> Path:
        """The path of a new suite within."""
        self.suites += 1
        return (*self.path, self.suites)

    def visit_Name(self, node: ast.Name) -> None:
        """A name is bound, or read."""
        if isinstance(node.ctx, ast.Store):
            self.bind(node.id)
        else:
            self.clock += 1
            self.uses.setdefault(node.id, Use()).read.append((self.clock, self.path))

    def visit_Assign(self, node: ast.Assign) -> None:
        """The value is read first."""
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """The name is bound once more, since it changes."""
        self.visit(node.value)
        self.visit(node.target)
        if isinstance(node.target, ast.Name):
            self.bind(node.target.id)

    def visit_If(self, node: ast.If) -> None:
        """Two suites."""
        self.visit(node.test)
        self.suite(node.body, self.below())
        self.suite(node.orelse, self.below())

    def visit_While(self, node: ast.While) -> None:
        """The test is read outside of the suite."""
        self.visit(node.test)
        self.suite(node.body, self.below())
        self.suite(node.orelse, self.below())

    def visit_For(self, node: ast.For) -> None:
        """The variable belongs to the suite."""
        self.visit(node.iter)
        before, self.path = self.path, self.below()
        self.visit(node.target)
        self.suite(node.body, self.path)
        self.path = before
        self.suite(node.orelse, self.below())
