"""Instances on disk: set functions and constraints as JSON, or as npz where arrays are large. Never pickled code.

A function is written as its family and the arguments that build it again:

    {"dsprog": 1, "objective": {"family": "Modular", "weights": {"array": [1.0, 2.0]}, "constant": 0.0},
    "constraints": []}

In an npz file the same text stands under ``header`` and arrays are entries of their own, ``{"entry": "a0"}``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.core.constraints import KINDS, Constraint
from dsprog.core.identity import Registry
from dsprog.core.problem import as_constraints, as_problem
from dsprog.core.set_function import FAMILIES, SetFunction

VERSION = 1
REGISTRIES = {"family": FAMILIES, "constraint": KINDS}
Write = Callable[[np.ndarray], dict[str, Any]]


def save(path: str | os.PathLike[str], objective: SetFunction, constraints: Iterable[Constraint] = ()) -> None:
    """Write an objective and constraints; ``.json`` keeps arrays in the text, ``.npz`` beside it."""
    target = Path(path)
    if target.suffix not in (".json", ".npz"):
        raise ValueError(f"path must end in .json or .npz, got {target.name!r}")
    arrays: dict[str, np.ndarray] = {}

    def inline(array: np.ndarray) -> dict[str, Any]:
        return {"array": array.tolist(), "dtype": array.dtype.str}

    def entry(array: np.ndarray) -> dict[str, Any]:
        arrays[f"a{len(arrays)}"] = array
        return {"entry": f"a{len(arrays) - 1}"}

    write = inline if target.suffix == ".json" else entry
    instance = {"objective": objective, "constraints": as_constraints(constraints, objective.n)}
    text = json.dumps({"dsprog": VERSION, **encoded(instance, write, "the instance")})
    if target.suffix == ".json":
        target.write_text(text + "\n")
    else:
        header = np.frombuffer(text.encode(), dtype=np.uint8)
        np.savez_compressed(target, header=header, **arrays)  # type: ignore[arg-type]


def encoded(value: Any, write: Write, what: str) -> Any:
    """Arguments as JSON: numbers, words, lists, and objects for functions, arrays and sparse matrices."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return value.item()
    if isinstance(value, (SetFunction, Constraint)):
        return encoded_object(value, write)
    if isinstance(value, np.ndarray):
        return write(value)
    if hasattr(value, "tocoo"):
        coo = value.tocoo()
        return {"sparse": [write(coo.data), write(coo.row), write(coo.col)], "shape": list(coo.shape)}
    if isinstance(value, (list, tuple)):
        return [encoded(entry, write, what) for entry in value]
    if isinstance(value, dict):
        return {key: encoded(entry, write, what) for key, entry in value.items()}
    it = "a Python callable" if callable(value) else f"a {type(value).__name__}"
    raise TypeError(f"{what} cannot be saved: it is {it}, and only numbers, words, arrays and set functions can")


def encoded_object(value: SetFunction | Constraint, write: Write) -> dict[str, Any]:
    """A function or constraint: the name of its class, and its arguments."""
    name, kind = type(value).__name__, "family" if isinstance(value, SetFunction) else "constraint"
    if REGISTRIES[kind].find(name) is not type(value):
        raise TypeError(f"{name} cannot be saved: its class was defined again since")
    try:
        parameters = value.parameters()
    except AttributeError as error:
        raise TypeError(f"{name} cannot be saved: it must store its arguments under their names ({error})") from None
    return {kind: name, **{key: encoded(entry, write, f"{key} of {name}") for key, entry in parameters.items()}}


def load(path: str | os.PathLike[str]) -> Any:
    """Read what :meth:`SetFunction.save` wrote: the objective, or a :class:`Problem` where there are constraints.

    >>> import dsprog as ds, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "instance.json"
    >>> (ds.CardinalityConcave(3) - ds.Modular([0.1, 0.9, 0.8])).save(path, [ds.Include([0])])
    >>> ds.minimize(ds.load(path)).S
    (0, 1, 2)
    """
    objective, constraints = load_problem(path)
    return as_problem(objective, constraints) if constraints else objective


def load_problem(path: str | os.PathLike[str]) -> tuple[SetFunction, list[Constraint]]:
    """Read an objective and its constraints."""
    document, arrays = read_document(Path(path))
    name = os.fspath(path)
    if not isinstance(document, dict) or document.get("dsprog") != VERSION:
        found = document.get("dsprog") if isinstance(document, dict) else None
        raise ValueError(f"{name} is not a dsprog instance of version {VERSION}: its header says {found!r}")
    try:
        objective = decoded(document["objective"], arrays)
        constraints = decoded(document.get("constraints", []), arrays)
        if not isinstance(objective, SetFunction):
            raise TypeError("its objective is not a set function")
        as_problem(objective, constraints)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{name} is not a valid instance: {error}") from error
    return objective, constraints


def read_document(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The JSON text of a file, and its arrays."""
    if not path.is_file():
        raise ValueError(f"{path} does not exist or is not a file")
    try:
        if not is_archive(path):
            return json.loads(path.read_text()), {}
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        return json.loads(arrays.pop("header").tobytes()), arrays
    except Exception as error:
        raise ValueError(f"{path} cannot be read as JSON or npz: {error}") from error


def is_native(path: Path) -> bool:
    """Whether a file looks like one of ours: a JSON object, or an archive."""
    return is_archive(path) or path.read_bytes().lstrip()[:1] == b"{"


def is_archive(path: Path) -> bool:
    """Whether a file is npz."""
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def decoded(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The inverse of :func:`encoded`."""
    if isinstance(value, list):
        return [decoded(entry, arrays) for entry in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], dtype=np.dtype(value["dtype"]))
    if "entry" in value:
        return arrays[value["entry"]]
    if "sparse" in value:
        import scipy.sparse as sparse

        data, row, col = (decoded(part, arrays) for part in value["sparse"])
        return sparse.coo_array((data, (row, col)), shape=tuple(value["shape"])).tocsr()
    for kind, registry in REGISTRIES.items():
        if kind in value:
            return built(registry, {key: decoded(entry, arrays) for key, entry in value.items()})
    return {key: decoded(entry, arrays) for key, entry in value.items()}


def built(registry: Registry, parameters: dict[str, Any]) -> Any:
    """An object of a registered class from its arguments."""
    return registry.find(parameters.pop(registry.kind))(**parameters)
