"""LLVM: from its language to machine code, and into this process."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

from dsprog.compiler.door import COMPARED, SYMBOLS

FASTCALL = 0x80  # how a door is called: with an array of arguments
ADDRESSES: dict[str, int] = {}  # of doors: those of records of equal classes have one
C_FUNCTIONS = [  # that LLVM may call
    "abort", "ceil", "exp", "exp2", "expm1", "floor", "fmod", "log", "log1p", "log2", "memcpy", "memmove", "memset",
    "pow", "sqrt", "tanh",
]  # fmt: skip
KEPT: list[Any] = []  # what doors need as long as there may be a call


@functools.cache
def binding() -> Any:
    """LLVM, and the functions of Python by name."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for library, names in ((ctypes.pythonapi, SYMBOLS), (c_library(), C_FUNCTIONS)):
        for name in names:
            if hasattr(library, name):  # else LLVM looks in all that is loaded
                llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    return llvm


def c_library() -> ctypes.CDLL:
    """The library of C that Python itself uses: on Windows there may be several in a process."""
    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)


@functools.cache
def processor() -> tuple[str, str, str]:
    """What machine code is for: system, processor, and what that can do."""
    llvm = binding()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def circumstances() -> str:
    """What machine code depends on besides its text: the processor, and LLVM."""
    return f"{processor()} {binding().llvm_version_info}"


@functools.cache
def target() -> Any:
    """The processor of this machine, for LLVM."""
    triple, name, features = processor()
    return binding().Target.from_triple(triple).create_target_machine(
        cpu=name, features=features, opt=2, reloc="static" if triple.startswith("x86") else "default",
        codemodel="jitdefault", jit=True,
    )  # fmt: skip


def machine_code(text: str) -> bytes:
    """The object file of a module.

    Loops are not unrolled and sums not split into several: most are short, and a quarter of compiling would be that.
    """
    llvm = binding()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = processor()[0], str(target().target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = True
    options.loop_unrolling = options.loop_interleaving = False
    builder = llvm.create_pass_builder(target(), options)
    builder.getModulePassManager().run(module, builder)
    code: bytes = target().emit_object(module)
    return code


@functools.cache
def engine() -> Any:
    """Holds machine code."""
    return binding().create_mcjit_compiler(binding().parse_assembly(""), target())


class MethodDef(ctypes.Structure):
    """A function as Python's C interface."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


def opened(code: bytes, symbol: str, name: str, classes: list[type]) -> Callable[..., Any]:
    """The door in an object file, as a function of Python."""
    if symbol not in ADDRESSES:
        engine().add_object_file(binding().ObjectFileRef.from_data(code))
        engine().finalize_object()
        ADDRESSES[symbol] = engine().get_function_address(symbol)
    things = [*COMPARED, *classes]
    table = b"".join(id(thing).to_bytes(8, "little") for thing in things)
    method = MethodDef(name.encode(), ADDRESSES[symbol], FASTCALL, None)
    KEPT.append((method, things))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes, make.restype = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p], ctypes.py_object
    door: Callable[..., Any] = make(ctypes.addressof(method), table, None)
    return door
