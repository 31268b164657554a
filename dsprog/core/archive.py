"""JSON text and npz archives from strangers: nothing is allocated on a header's word, and no code is ever run.

What an archive says that it expands to is read before anything is expanded, and must be in proportion to the file; the
size of an array must be that of its bytes; only plain numbers and truth values are read.
"""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

EXPANSION = 100  # bytes that each byte of an archive may expand to, ...
FREE_BYTES = 1 << 26  # ... beside so many that every archive may
FREE_ELEMENTS = 1_000_000  # size of a ground set, or of a matrix, that a file may ask for without holding as many bytes
DEPTH = 200  # of brackets in JSON
SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}  # in bytes, of truth values and numbers
PLAIN = frozenset(f"{order}{kind}{size}" for kind, sizes in SIZES.items() for size in sizes for order in "<>|=")


def most_elements(length: int) -> int:
    """The largest ground set that a file of a length in bytes (or words) may ask for."""
    return FREE_ELEMENTS + length


def most_bytes(length: int) -> int:
    """What an archive of a length in bytes may expand to."""
    return FREE_BYTES + EXPANSION * length


def is_archive(path: Path) -> bool:
    """Whether a file is npz."""
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def read_document(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The JSON text of a file, and its arrays."""
    if not path.is_file():
        raise ValueError(f"{path} does not exist or is not a file")
    try:
        arrays = read_arrays(path) if is_archive(path) else {}
        text = arrays.pop("header").tobytes() if arrays else path.read_bytes()
        return json.loads(text), arrays
    except RecursionError:
        raise ValueError(f"{path} cannot be read: its brackets are nested too deeply") from None
    except Exception as error:  # zipfile and json raise many kinds
        raise ValueError(f"{path} cannot be read as JSON or npz: {error}") from error


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an npz file, after a look at what they would expand to."""
    import zipfile

    with zipfile.ZipFile(path) as archive:
        members, most = archive.infolist(), most_bytes(path.stat().st_size)
        total = sum(member.file_size for member in members)
        if total > most:
            raise ValueError(f"it would expand to {total} bytes, and at most {most} are in proportion to its length")
        return {member.filename.removesuffix(".npy"): plain_array(archive.read(member)) for member in members}


def plain_array(data: bytes) -> np.ndarray:
    """An npy file of numbers or truth values; its size must be that of its bytes."""
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array is of another npy version than 1.0")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    plain_dtype(dtype.str)
    room = len(data) - file.tell()
    if math.prod(shape) * dtype.itemsize != room:
        raise ValueError(f"an array of shape {shape} and {dtype} does not have {room} bytes")
    return np.frombuffer(data, dtype=dtype, offset=file.tell()).reshape(shape, order="F" if by_columns else "C")


def plain_dtype(name: object) -> np.dtype:
    """The type of an array by its name, one of plain numbers or truth values."""
    if not isinstance(name, str) or name not in PLAIN:
        raise ValueError(f"the dtype of an array must be one of numbers or truth values such as '<f8', got {name!r}")
    return np.dtype(name)


def check_depth(value: Any, most: int = DEPTH) -> None:
    """Refuse JSON whose brackets are nested too deeply for those who walk through it."""
    level = [value]
    for _ in range(most):
        level = [child for parent in level if isinstance(parent, (list, dict)) for child in children(parent)]
        if not level:
            return
    raise ValueError(f"its brackets are nested more than {most} deep")


def children(parent: list | dict) -> Any:
    """What stands inside brackets, if it is brackets again."""
    inside = parent.values() if isinstance(parent, dict) else parent
    return (child for child in inside if isinstance(child, (list, dict)))
