"""Mistakes in files: in their bytes, words, fields and arrays."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

WORDS = ["", "0", "-1", "1", "2", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "1000000000", "9" * 30, "9" * 5000]
WORDS += ["x", "p", "n", "a", "c", "#", "²", "\x00", "0x10", "1_0", "3.5", "MARKOV", "max", "1" + "0" * 7]
NUMBERS = [0, -1, 1, 2, 3, 0.0, -0.5, 0.5, 1e-320, 1e-15, 1e15, 1e100, 1e150, 1e290, 1e300, -1e299, 1e308, 2**31, 10**6]
VALUES: list[Any] = [None, True, False, 0, -1, 1, 3, 0.5, 1e308, -1e308, 1e300, 1e150, 1e-320, 10**6, 10**9, 10**20]
VALUES += [2**53, 2**63, float("nan"), float("inf"), -float("inf"), "", "x", "sqrt", "Cut", "<U500000000", "|O", ">f8"]
VALUES += ["<f2", "|b1", [], [[]], {}, [0], [-1, 5], [[1e308, 1e308], [1e308, 1e308]], ["a"], [None], [10**12]]
VALUES += [{"array": [1, 2], "dtype": "<i8"}, {"entry": "a0"}, {"entry": "a9"}, {"array": 7, "dtype": "<f8"}]
VALUES += [{"family": "Modular", "weights": [1.0, 2.0]}, {"family": "Sum", "n": 2, "terms": []}, {"family": "View"}]
VALUES += [{"sparse": [[1.0], [0], [0]], "shape": [3, 3]}, {"sparse": [[1.0], [0], [0]], "shape": [10**6, 10**6]}]


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """A file with one to three mistakes, of a kind that its format can have."""
    by_field = of_archive if data[:2] == b"PK" else of_json if data[:1] == b"{" else of_words
    for _ in range(rng.integers(1, 4) if rng.random() < 0.5 else 1):
        change: Callable[[bytes, np.random.Generator], bytes] = of_bytes if rng.random() < 0.2 else by_field
        try:
            data = change(data, rng)
        except Exception:  # it is no longer what it was
            data = of_bytes(data, rng)
    return data


def of_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, dropped, repeated or put in, or the end cut off."""
    at, length = int(rng.integers(0, len(data) + 1)), int(rng.integers(1, 9))
    noise = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
    changes = [
        data[:at] + noise + data[at + length :],
        data[:at] + data[at + length :],
        data[:at] + noise + data[at:],
        data[: at + length] + data[at:],
        data[:at],
    ]
    return changes[rng.integers(len(changes))]


def of_words(data: bytes, rng: np.random.Generator) -> bytes:
    """One word of a text file in another's place, or a line dropped or repeated."""
    lines = data.decode(errors="replace").split("\n")
    row = int(rng.integers(len(lines)))
    words = lines[row].split(" ")
    if rng.random() < 0.2:
        lines[row : row + 1] = [] if rng.random() < 0.5 else [lines[row]] * 2
    else:
        words[rng.integers(len(words))] = str(rng.choice(WORDS))
        lines[row] = " ".join(words)
    return "\n".join(lines).encode()


def of_json(data: bytes, rng: np.random.Generator) -> bytes:
    """One field of JSON text changed."""
    document = json.loads(data)
    change_field(document, rng)
    return json.dumps(document).encode()


def change_field(document: Any, rng: np.random.Generator) -> None:
    """One field in another's place, dropped, renamed, or nested in itself."""
    places = list(fields(document))
    parent, key = places[rng.integers(len(places))]
    draw = rng.random()
    if isinstance(parent[key], (int, float)) and rng.random() < 0.7:
        parent[key] = NUMBERS[rng.integers(len(NUMBERS))]
    elif draw < 0.7:
        parent[key] = VALUES[rng.integers(len(VALUES))]
    elif draw < 0.8:
        other, its_key = places[rng.integers(len(places))]
        parent[key] = json.loads(json.dumps(other[its_key]))
    elif draw < 0.9 and isinstance(parent, list):
        parent.append(parent[key])
    elif draw < 0.95:
        parent[key] = [parent[key]]
    else:
        del parent[key]


def fields(value: Any) -> Any:
    """Every place of a document that can be changed, as a container and a key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from fields(value[key])


def of_archive(data: bytes, rng: np.random.Generator) -> bytes:
    """One array of an npz file changed: its type, its shape, its entries, its head; or the JSON text."""
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    name = str(rng.choice(list(arrays)))
    blocks: dict[str, bytes] = {}
    if name == "header":
        text = of_json(arrays["header"].tobytes(), rng)
        arrays["header"] = np.frombuffer(text, dtype=np.uint8)
    elif rng.random() < 0.3:
        blocks[name] = with_other_head(arrays[name], rng)
    else:
        arrays[name] = other_array(arrays[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            archive.writestr(f"{key}.npy", blocks.get(key, npy(array)))
    return packed.getvalue()


def npy(array: np.ndarray) -> bytes:
    """An array as an npy file."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return file.getvalue()


def with_other_head(array: np.ndarray, rng: np.random.Generator) -> bytes:
    """The bytes of an array under a head that says something else."""
    shapes = [(10**10,), (), (0,), (-1,), (len(array.ravel()), 1), array.shape[::-1], (2**40, 2**40)]
    types = ["<f8", "<i8", "<f2", ">f8", "|b1", "<U500000000", "|O", "|V8", "<c16", "<M8[s]"]
    file = io.BytesIO()
    head = {"descr": str(rng.choice(types)), "fortran_order": bool(rng.random() < 0.5)}
    np.lib.format.write_array_header_1_0(file, head | {"shape": shapes[rng.integers(len(shapes))]})
    return file.getvalue() + array.tobytes()


def other_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array of another shape or type, or with another entry."""
    draw = int(rng.integers(6))
    if draw == 0:
        return array.T[::-1].copy(order="F")
    if draw == 1:
        return array.ravel()
    if draw == 2:
        return array[:0]
    if draw == 3:
        with np.errstate(all="ignore"):
            return array.astype(str(rng.choice(["<f8", "<i8", "|i1", ">f4", "|b1", "<U3"])))
    if draw == 4:
        return np.repeat(array[None], 2, axis=0)
    changed, numbers = array.astype(float), [np.nan, np.inf, 1e308, -1e308, 2.0**62, -1, 1e12, 0.5]
    changed.flat[rng.integers(max(1, changed.size))] = rng.choice(numbers)
    whole = rng.random() < 0.5 and np.isfinite(changed).all()
    return changed.clip(-1e18, 1e18).astype(np.int64) if whole else changed
