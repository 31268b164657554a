"""How numba compiles kernels: its own pipeline, without what kernels do not need.

Most of a first run is numba's own work on the code, before any of it is machine code. Kernels contain no closures,
contexts, literals to unroll or array expressions, so the passes that look for these are left out; each walks over the
whole function. And a function that makes no array need not count who holds one: the arrays that it is given stay alive
until it returns. What is used is numba's extension point for compilers, with passes and flags by their names.
"""

from __future__ import annotations

import functools
from typing import Any

NEEDLESS = {
    "with_lifting", "inline_closure_likes", "make_function_op_code_to_jit_function", "inline_inlinables",
    "find_literally", "literal_unroll", "LiteralPropagation", "inline_overloads", "nopython_rewrites",
    "dead_branch_prune",
}  # fmt: skip
VIEWS = {"getitem", "static_getitem", "getattr", "build_tuple", "exhaust_iter", "cast", "phi"}


@functools.cache
def kernel_pipeline() -> Any:
    """The pipeline that ``numba.njit`` takes as ``pipeline_class`` for kernels."""
    from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
    from numba.core.compiler_machinery import AnalysisPass, register_pass
    from numba.core.typed_passes import IRLegalization

    defaults = {name: option.default for name, option in Flags.options.items()}

    class QuickFlags(Flags):
        """The same flags, sooner: numba compares them whenever it looks for an operator."""

        __slots__ = ()

        def values(self) -> dict[str, Any]:
            return {**defaults, **self._values}

        def __hash__(self) -> int:
            return hash(tuple(sorted(defaults)))

        def __eq__(self, other: object) -> bool:
            return self is other or super().__eq__(other)

    @register_pass(mutates_CFG=False, analysis_only=True)
    class BorrowArrays(AnalysisPass):
        """Count no references in a function that only borrows arrays."""

        _name = "dsprog_borrow_arrays"

        def __init__(self) -> None:
            AnalysisPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            if only_borrows(state):
                state.targetctx = state.targetctx.subtarget(enable_nrt=False)
            return False

    class KernelCompiler(CompilerBase):
        """The pipeline of numba with fewer passes."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.state.flags = QuickFlags(self.state.flags)

        def passes(self) -> Any:
            """Those that are left."""
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [entry for entry in passes.passes if entry[0]._name not in NEEDLESS]
            passes.add_pass_after(BorrowArrays, IRLegalization)
            return passes

        def define_pipelines(self) -> list[Any]:
            passes = self.passes()
            passes.finalize()
            return [passes]

    return KernelCompiler


def only_borrows(state: Any) -> bool:
    """Whether all arrays of a typed function are its arguments, their fields and their views, and none is returned.

    Where it is not plain to see, the answer is no.
    """
    from numba.core import ir

    types_of = state.typemap
    if not holds_numbers(state.return_type):
        return False
    for block in state.func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Raise):
                return False
            if isinstance(statement, ir.Assign):
                kind, value = types_of[statement.target.name], statement.value
                if isinstance(value, ir.Expr) and not borrows(value, types_of, kind):
                    return False
                if not (holds_numbers(kind) or is_borrowable(kind)):
                    return False
    return True


def borrows(value: Any, types_of: Any, kind: Any) -> bool:
    """Whether an expression makes no array, itself or on its way."""
    from numba.core import types

    if value.op == "call":
        function = types_of[value.func.name]
        if not holds_numbers(kind):
            return False
        if isinstance(function, types.Dispatcher) or getattr(function, "typing_key", None) is len:
            return True
        return all(holds_numbers(types_of[arg.name]) for arg in value.args)
    if holds_numbers(kind):
        return True
    if value.op == "getattr":
        return not isinstance(types_of[value.value.name], types.Array)
    if value.op == "getitem" and isinstance(types_of[value.value.name], types.Array):
        index = types_of[value.index.name]
        return all(isinstance(part, (types.Integer, types.SliceType)) for part in getattr(index, "types", (index,)))
    return value.op in VIEWS


def holds_numbers(kind: Any) -> bool:
    """Whether values of a type are numbers, or tuples and ranges of them, or nothing."""
    from numba.core import types

    if isinstance(kind, types.BaseTuple):
        return all(map(holds_numbers, tuple(kind)))  # type: ignore[arg-type]
    plain = (types.Number, types.Boolean, types.NoneType, types.RangeType, types.RangeIteratorType, types.SliceType)
    if isinstance(kind, types.Pair):
        return holds_numbers(kind.first_type) and holds_numbers(kind.second_type)
    return isinstance(kind, plain) or isinstance(getattr(kind, "literal_type", None), types.Number)


def is_borrowable(kind: Any) -> bool:
    """Whether values of a type are arrays, functions, modules, or records and tuples of these."""
    from numba.core import types

    from dsprog.core.kernel_records import RecordType

    if isinstance(kind, types.BaseTuple):
        fields: tuple[Any, ...] = tuple(kind)  # type: ignore[arg-type]
        return all(holds_numbers(field) or is_borrowable(field) for field in fields)
    return isinstance(kind, (types.Array, types.Callable, types.Module, RecordType)) or kind is types.ellipsis
