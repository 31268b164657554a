"""Arithmetic of kernels: that of Python, but for integers of 64 bits, and division by 0 as NumPy has it.

Sums may be reordered so that they vectorise; nothing assumes away nan or infinity.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from dsprog.compiler.kinds import BOOL, FLOAT, INT, WORD, NotAKernel, Number, ValueKind, described
from dsprog.compiler.writer import Value, Writer, literal, number

FAST = "reassoc contract"
FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
INTEGERS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ("olt", "slt", "ult"), ast.LtE: ("ole", "sle", "ule"), ast.Gt: ("ogt", "sgt", "ugt"),
    ast.GtE: ("oge", "sge", "uge"), ast.Eq: ("oeq", "eq", "eq"), ast.NotEq: ("une", "ne", "ne"),
}  # fmt: skip
FUNCTIONS = {
    np.sqrt: "llvm.sqrt.f64", np.log: "llvm.log.f64", np.exp: "llvm.exp.f64", np.log1p: "log1p", np.expm1: "expm1",
    np.ceil: "llvm.ceil.f64", np.floor: "llvm.floor.f64", np.log2: "llvm.log2.f64", np.tanh: "tanh",
}  # fmt: skip
CASTS = {int: INT, np.int64: INT, float: FLOAT, np.float64: FLOAT, bool: BOOL, np.bool_: BOOL, np.uint64: WORD}


def converted(w: Writer, value: Value, kind: ValueKind) -> Value:
    """The value as a number of another kind."""
    if value.kind == kind:
        return value
    if not (isinstance(value.kind, Number) and isinstance(kind, Number)):
        raise NotAKernel(f"{described(value.kind)} where {described(kind)} is needed")
    if value.known is not None and kind is not WORD:
        return literal(truncated(value.known) if kind is INT else {BOOL: bool, FLOAT: float}[kind](value.known))
    part = value.part
    if kind is BOOL:
        return Value(
            BOOL, (w.get(f"fcmp une double {part}, 0.0" if value.kind is FLOAT else f"icmp ne i64 {part}, 0"),)
        )
    if value.kind is BOOL:
        return Value(kind, (w.get(f"uitofp i1 {part} to double" if kind is FLOAT else f"zext i1 {part} to i64"),))
    if kind is FLOAT:
        return Value(FLOAT, (w.get(f"{'uitofp' if value.kind is WORD else 'sitofp'} i64 {part} to double"),))
    if value.kind is FLOAT:
        sign = "u" if kind is WORD else "s"
        return Value(kind, (w.get(f"call i64 @llvm.fpto{sign}i.sat.i64.f64(double {part})"),))
    return Value(kind, value.parts, value.known)


def truncated(number: float) -> int:
    """A known number as an integer: the next that there is, and 0 of no number."""
    if number != number:
        return 0
    return int(number) if abs(number) < 2**63 else (2**63 - 1 if number > 0 else -(2**63))


def common(one: Value, other: Value) -> Number:
    """The kind in which two numbers are calculated with."""
    kinds = {number(one), number(other)}
    if FLOAT in kinds:
        return FLOAT
    if WORD not in kinds:
        return INT
    for value in (one, other):
        if value.kind is INT and (value.known is None or value.known < 0):
            raise NotAKernel("an integer with a sign and one without: convert one of them")
    return WORD


def calculated(w: Writer, operator: ast.operator, one: Value, other: Value) -> Value:
    """one + other and the like."""
    if type(operator) is ast.Pow:
        return power(w, one, other)
    kind = FLOAT if type(operator) is ast.Div else common(one, other)
    if {one.kind, other.kind} == {BOOL} and type(operator) in (ast.BitAnd, ast.BitOr, ast.BitXor):
        kind = BOOL
    one, other = converted(w, one, kind), converted(w, other, kind)
    if kind is FLOAT and type(operator) in FLOATS:
        return Value(FLOAT, (w.get(f"{FLOATS[type(operator)]} {FAST} double {one.part}, {other.part}"),))
    if kind is not FLOAT and type(operator) in INTEGERS:
        return Value(kind, (w.get(f"{INTEGERS[type(operator)]} {kind.register} {one.part}, {other.part}"),))
    if kind is not FLOAT and type(operator) in (ast.LShift, ast.RShift):
        return shifted(w, type(operator) is ast.LShift, one, other)
    if kind is not FLOAT and type(operator) in (ast.FloorDiv, ast.Mod):
        return divided(w, type(operator) is ast.Mod, one, other)
    if kind is FLOAT and type(operator) is ast.Mod:
        return Value(FLOAT, (rest(w, one.part, other.part),))
    raise NotAKernel(f"{type(operator).__name__} of {described(one.kind)} and {described(other.kind)}")


def shifted(w: Writer, is_left: bool, one: Value, other: Value) -> Value:
    """Bits moved; by 64 places or more, only the sign stays."""
    if other.known is not None and other.known < 0:
        raise NotAKernel("a shift by less than nothing")
    if one.kind is INT and not is_left:
        places = w.get(f"call i64 @llvm.umin.i64(i64 {other.part}, i64 63)")
        return Value(INT, (w.get(f"ashr i64 {one.part}, {places}"),))
    moved = w.get(f"{'shl' if is_left else 'lshr'} i64 {one.part}, {other.part}")
    stays = w.get(f"icmp ult i64 {other.part}, 64")
    return Value(one.kind, (w.get(f"select i1 {stays}, i64 {moved}, i64 0"),))


def rest(w: Writer, one: str, other: str) -> str:
    """What a division of floats leaves, of the sign of the divisor."""
    left = w.get(f"frem double {one}, {other}")
    signs = [w.get(f"fcmp olt double {part}, 0.0") for part in (left, other)]
    unlike = w.get(f"xor i1 {signs[0]}, {signs[1]}")
    mixed = w.get(f"and i1 {unlike}, {w.get(f'fcmp one double {left}, 0.0')}")
    return w.get(f"select i1 {mixed}, double {w.get(f'fadd double {left}, {other}')}, double {left}")


def divided(w: Writer, remainder: bool, one: Value, other: Value) -> Value:
    """Quotients towards minus infinity, or what is left, of the sign of the divisor; 0 where that is 0.

    Processors end the process where they divide by 0, or the least integer by -1: these need no division.
    """
    kind, a = one.kind, one.part
    easy = literal(0) if remainder else calculated(w, ast.Mult(), one, other)  # for divisors 0 and -1
    safe, is_easy = other.part, None
    if other.known in (0, -1):
        return easy
    if other.known is None:
        low = "0" if kind is WORD else "1"
        is_easy = w.get(f"icmp ule i64 {w.get(f'add i64 {other.part}, {low}')}, {low}")
        safe = w.get(f"select i1 {is_easy}, i64 1, i64 {other.part}")
    if kind is WORD:
        result = w.get(f"{'urem' if remainder else 'udiv'} i64 {a}, {safe}")
    else:
        left = w.get(f"srem i64 {a}, {safe}")
        mixed = w.get(f"icmp slt i64 {w.get(f'xor i64 {left}, {safe}')}, 0")
        adjust = w.get(f"and i1 {mixed}, {w.get(f'icmp ne i64 {left}, 0')}")
        if remainder:
            result = w.get(f"select i1 {adjust}, i64 {w.get(f'add i64 {left}, {safe}')}, i64 {left}")
        else:
            down = w.get(f"sext i1 {adjust} to i64")
            result = w.get(f"add i64 {w.get(f'sdiv i64 {a}, {safe}')}, {down}")
    if is_easy is not None:
        result = w.get(f"select i1 {is_easy}, i64 {easy.part}, i64 {result}")
    return Value(kind, (result,))


def power(w: Writer, one: Value, other: Value) -> Value:
    """Small known powers by multiplication, others of floats by the library."""
    if other.kind is INT and other.known is not None and 1 <= other.known <= 4:
        result = one
        for _ in range(other.known - 1):
            result = calculated(w, ast.Mult(), result, one)
        return result
    if FLOAT not in (one.kind, other.kind):
        raise NotAKernel("a power of integers that is not known")
    return called(w, "llvm.pow.f64", one, other)


def called(w: Writer, function: str, *values: Value) -> Value:
    """A function of floats."""
    arguments = ", ".join(f"double {converted(w, value, FLOAT).part}" for value in values)
    return Value(FLOAT, (w.get(f"call {FAST} double @{function}({arguments})"),))


def negated(w: Writer, operator: ast.unaryop, value: Value) -> Value:
    """-value, +value, ~value."""
    if isinstance(operator, ast.UAdd):
        return converted(w, value, INT) if number(value) is BOOL else value
    if isinstance(operator, ast.Invert):
        if number(value) is BOOL or number(value) is FLOAT:
            raise NotAKernel(f"~ of {described(value.kind)}")
        return Value(value.kind, (w.get(f"xor i64 {value.part}, -1"),))
    if number(value) is WORD:
        raise NotAKernel("a number without a sign cannot be negated")
    if value.known is not None:
        return literal(-value.known)
    if number(value) is FLOAT:
        return Value(FLOAT, (w.get(f"fneg {FAST} double {value.part}"),))
    return calculated(w, ast.Sub(), literal(0), value)


def compared(w: Writer, operator: ast.cmpop, one: Value, other: Value) -> Value:
    """one < other and the like."""
    if type(operator) not in COMPARISONS:
        raise NotAKernel(f"{type(operator).__name__} of {described(one.kind)} and {described(other.kind)}")
    floats, signed, unsigned = COMPARISONS[type(operator)]
    kind = common(one, other)
    one, other = converted(w, one, kind), converted(w, other, kind)
    if kind is FLOAT:
        return Value(BOOL, (w.get(f"fcmp {FAST} {floats} double {one.part}, {other.part}"),))
    return Value(BOOL, (w.get(f"icmp {unsigned if kind is WORD else signed} i64 {one.part}, {other.part}"),))


def extreme(w: Writer, operator: ast.cmpop, values: list[Value]) -> Value:
    """The largest or the smallest; of one that is no number and one that is, the second in the order given."""
    best = values[0]
    for value in values[1:]:
        kind = common(best, value)
        if {best.kind, value.kind} == {BOOL}:
            kind = BOOL
        best, value = converted(w, best, kind), converted(w, value, kind)
        test = compared(w, operator, best, value).part
        best = Value(kind, (w.get(f"select i1 {test}, {kind.register} {best.part}, {kind.register} {value.part}"),))
    return best


def absolute(w: Writer, value: Value) -> Value:
    """abs(value)."""
    if number(value) is FLOAT:
        return called(w, "llvm.fabs.f64", value)
    if value.kind is WORD:
        return value
    return Value(INT, (w.get(f"call i64 @llvm.abs.i64(i64 {converted(w, value, INT).part}, i1 false)"),))


def tested(w: Writer, function: Any, value: Value) -> Value:
    """np.isnan, np.isinf, np.isfinite."""
    part = converted(w, value, FLOAT).part
    if function is np.isnan:
        return Value(BOOL, (w.get(f"fcmp uno double {part}, 0.0"),))
    size = w.get(f"call double @llvm.fabs.f64(double {part})")
    infinity = literal(np.inf).part
    return Value(BOOL, (w.get(f"fcmp {'oeq' if function is np.isinf else 'olt'} double {size}, {infinity}"),))


DECLARATIONS = "\n".join(
    [f"declare double @{name}(double) nounwind memory(none)" for name in [*FUNCTIONS.values(), "llvm.fabs.f64"]]
    + ["declare double @llvm.pow.f64(double, double)", "declare i64 @llvm.abs.i64(i64, i1)"]
    + [f"declare i64 @llvm.fpto{sign}i.sat.i64.f64(double)" for sign in "su"]
    + ["declare i64 @llvm.umin.i64(i64, i64)"]
)
