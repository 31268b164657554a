"""How kernels hand NamedTuples to each other: as one pointer.

Numba takes a NamedTuple apart at every call and puts it together again in the function that is called: with eight
arrays of seven numbers each, most of the code of a small function is that, and most of what compiling it costs. Here a
NamedTuple that Python gives to a kernel is taken apart once, into memory that lives as long as the call; kernels hand
on its address, and read a field when they name it. Fields cannot be changed, only what arrays hold.

This module imports numba; :mod:`dsprog.core.kernel` imports it when a kernel is first called with a NamedTuple.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox


class RecordType(types.Type):
    """The type of a NamedTuple that is handed on by its address: its name, and names and types of its fields."""

    def __init__(self, title: str, fields: tuple[tuple[str, Any], ...]) -> None:
        self.fields = fields
        super().__init__(f"{title}({', '.join(f'{name}: {kind}' for name, kind in fields)})")

    def place(self, field: str) -> int:
        """Which field it is."""
        return [name for name, _ in self.fields].index(field)


@register_model(RecordType)
class RecordModel(models.PrimitiveModel):
    """An address."""

    def __init__(self, dmm: Any, fe_type: RecordType) -> None:
        super().__init__(dmm, fe_type, ir.IntType(8).as_pointer())


@infer_getattr
class RecordFields(AttributeTemplate):
    """The types of fields."""

    key = RecordType

    def generic_resolve(self, record: Any, attr: str) -> Any:  # type: ignore[override]
        """The type of one of them."""
        return dict(record.fields).get(attr)


def layout(context: Any, record: RecordType) -> ir.Type:
    """The fields in memory."""
    return ir.LiteralStructType([context.get_value_type(kind) for _, kind in record.fields])


@lower_getattr_generic(RecordType)
def read_field(context: Any, builder: Any, record: RecordType, address: Any, attr: str) -> Any:
    """Load a field from its place."""
    place = record.place(attr)
    pointer = builder.bitcast(address, layout(context, record).as_pointer())
    value = builder.load(cgutils.gep_inbounds(builder, pointer, 0, place))
    return impl_ret_borrowed(context, builder, record.fields[place][1], value)


@unbox(RecordType)
def take_apart(record: RecordType, value: Any, c: Any) -> NativeValue:
    """The fields of a NamedTuple into memory of the wrapper that calls the kernel."""
    builder, cleanups = c.builder, []
    memory = cgutils.alloca_once(builder, layout(c.context, record), zfill=True)
    failed = cgutils.alloca_once_value(builder, cgutils.false_bit)
    for place, (_, kind) in enumerate(record.fields):
        item = c.pyapi.tuple_getitem(value, place)
        native = c.unbox(kind, item)
        builder.store(native.value, cgutils.gep_inbounds(builder, memory, 0, place))
        builder.store(builder.or_(builder.load(failed), native.is_error), failed)
        cleanups.append((kind, native))

    def cleanup() -> None:
        for kind, native in cleanups:
            if native.cleanup is not None:
                native.cleanup()
            if c.context.enable_nrt:
                c.context.nrt.decref(builder, kind, native.value)

    address = builder.bitcast(memory, ir.IntType(8).as_pointer())
    return NativeValue(address, is_error=builder.load(failed), cleanup=cleanup)


def hand_on_by_address(values: Any) -> None:
    """Tell numba that NamedTuples among these values, and in them, are records."""
    for value in values:
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            if type(value) not in typeof_impl.registry:
                typeof_impl.register(type(value))(record_of)
            hand_on_by_address(value)


def record_of(value: Any, c: Any) -> RecordType:
    """The type of a NamedTuple."""
    kinds = [typeof_impl(field, c) for field in value]
    return RecordType(type(value).__name__, tuple(zip(value._fields, kinds)))
