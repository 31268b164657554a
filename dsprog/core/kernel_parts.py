"""How numba compiles the parts of kernels: no further than to LLVM's language.

Numba optimises every function that it compiles and turns it into machine code, also one that only other compiled
functions call. These take it in as LLVM code and optimise it again, so that a function four calls deep is compiled five
times. The pipeline below stops at the LLVM code: all parts of a kernel are linked, optimised as a whole and turned into
machine code once, with it. It stands on two of numba's extension points (a compiler pipeline and a pass) and on the
code library of its CPU target, which is not public; where a version of numba lacks that, parts are compiled the usual
way.
"""

from __future__ import annotations

import functools
from typing import Any

from dsprog.core.kernel_pipeline import kernel_pipeline

# A part of what compiled code is kept under: another pipeline, another word.
PIPELINE = "parts as LLVM code named by what they do, records by address, borrowed arrays 1"


@functools.cache
def part_pipeline() -> Any:
    """The pipeline that ``numba.njit`` takes as ``pipeline_class`` for parts; numba's own where it cannot be had."""
    from numba.core.compiler import Compiler

    KernelCompiler = kernel_pipeline()
    try:
        from numba import _dynfunc  # type: ignore[attr-defined]
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler_machinery import LoweringPass, register_pass
        from numba.core.typed_passes import NativeLowering
    except ImportError:
        return Compiler

    class PartLibrary(JITCodeLibrary):
        """LLVM code to be linked into that of callers.

        The passes over single functions, which numba runs as code comes in, are kept: without them kernels get slower.
        """

        def _optimize_final_module(self) -> None:
            """The caller's library does it."""

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class RegisterPart(LoweringPass):
        """Let other functions call the part, with a handle in place of the machine code."""

        _name = "dsprog_register_part"

        def __init__(self) -> None:
            LoweringPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            lowered, library = state["cr"], state.library
            fndesc = lowered.fndesc
            name = fndesc.qualname.split(".")[-1]
            handle = _dynfunc.make_function(fndesc.lookup_module(), name, "part", 0, lowered.env, (library,))
            state.targetctx.insert_user_function(handle, fndesc, [library])
            state.reload_init.extend(getattr(library, "_reload_init", ()))  # of older numba there is none
            state["cr"] = lowered._replace(cfunc=handle)
            return True

    class PartCompiler(KernelCompiler):  # type: ignore[valid-type, misc]
        """The pipeline of kernels, with a library that is not compiled."""

        def define_pipelines(self) -> list[Any]:
            state = self.state
            state.flags.no_compile = True
            state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            passes = self.passes()
            passes.add_pass_after(RegisterPart, NativeLowering)
            passes.finalize()
            return [passes]

    return PartCompiler
