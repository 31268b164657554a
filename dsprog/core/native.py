"""Instances on disk: set functions and constraints as JSON, or as npz where arrays are large. Never pickled code.

A function is written as its family and the arguments that build it again:

    {"dsprog": 1, "objective": {"family": "Modular", "weights": {"array": [1.0, 2.0]}, "constant": 0.0},
    "constraints": []}

A family of this library goes by its name; a user's by ``module:Name``, and is found if that module has been imported.
In an npz file the same text stands under ``header`` and arrays are entries of their own, ``{"entry": "a0"}``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dsprog.core.archive import check_depth, is_archive, most_bytes, most_elements, plain_dtype, read_document
from dsprog.core.constraints import KINDS, Constraint
from dsprog.core.identity import Registry, name_in_files
from dsprog.core.problem import Problem, as_constraints, as_problem
from dsprog.core.set_function import FAMILIES, SetFunction
from dsprog.core.validation import as_count, as_reals, as_whole, shortened

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
    instance: dict[str, Any] = {"objective": objective, "constraints": as_constraints(constraints, objective.n)}
    if objective.element_labels is not None:
        instance["labels"] = objective.element_labels
    text = json.dumps({"dsprog": VERSION, **encoded(instance, write, "the instance")})
    if target.suffix == ".json":
        target.write_text(text + "\n")
    else:
        arrays["header"] = np.frombuffer(text.encode(), dtype=np.uint8)
        np.savez_compressed(target, **arrays)  # type: ignore[arg-type]
        if sum(array.nbytes for array in arrays.values()) > most_bytes(target.stat().st_size) // 2:
            np.savez(target, **arrays)  # type: ignore[arg-type]  # almost nothing but zeros: a reader would refuse it


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
    kind, called = "family" if isinstance(value, SetFunction) else "constraint", type(value).__name__
    name = name_in_files(type(value))
    if name is None:
        raise TypeError(f"{called} cannot be saved: it serves inside a solver only")
    if REGISTRIES[kind].find(name) is not type(value):
        raise TypeError(f"{called} cannot be saved: its class was defined again since")
    try:
        parameters = value.parameters()
    except AttributeError as error:
        raise TypeError(f"{called} cannot be saved: it must store its arguments under their names ({error})") from None
    return {kind: name, **{key: encoded(entry, write, f"{key} of {called}") for key, entry in parameters.items()}}


def load(path: str | os.PathLike[str]) -> SetFunction | Problem:
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
    source, name = Path(path), os.fspath(path)
    document, arrays = read_document(source)
    if not isinstance(document, dict) or document.get("dsprog") != VERSION:
        found = document.get("dsprog") if isinstance(document, dict) else None
        raise ValueError(f"{name} is not a dsprog instance of version {VERSION}: its header says {shortened(found)}")
    try:
        check_depth(document)
        decode = Decoder(arrays, most_elements(source.stat().st_size))
        objective, constraints = decode(document["objective"]), decode(document.get("constraints", []))
        if not isinstance(objective, SetFunction):
            raise TypeError("its objective is not a set function")
        if not isinstance(constraints, list):
            raise TypeError("its constraints are not a list")
        if document.get("labels") is not None:
            objective = objective.labelled(decode(document["labels"]))
        as_problem(objective, constraints)
    except Exception as error:  # the arguments are a stranger's, and a constructor may fail in any way
        words = " ".join(str(error).split()) or type(error).__name__
        words = f"{words} is missing" if isinstance(error, KeyError) else words
        raise ValueError(f"{name} is not a valid instance: {words}") from error
    return objective, constraints


def is_native(path: Path) -> bool:
    """Whether a file looks like one of ours: a JSON object, or an archive."""
    return is_archive(path) or path.read_bytes().lstrip()[:1] == b"{"


class Decoder:
    """The inverse of :func:`encoded`.

    Parameters
    ----------
    arrays : dict
        The entries of an npz file.
    most : int
        The largest ground set, or side of a sparse matrix, that the file may ask for.
    """

    def __init__(self, arrays: dict[str, np.ndarray], most: int) -> None:
        self.arrays, self.most = arrays, most

    def __call__(self, value: Any) -> Any:
        """What a value of the JSON text stands for."""
        if isinstance(value, list):
            return [self(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        if "array" in value:
            return np.array(value["array"], dtype=plain_dtype(value["dtype"]))
        if "entry" in value:
            return self.arrays[value["entry"]]
        if "sparse" in value:
            return self._sparse(value)
        parameters = {key: self(entry) for key, entry in value.items()}
        for registry in REGISTRIES.values():
            if registry.kind in value:
                return self._built(registry, parameters)
        return parameters

    def _sparse(self, value: dict[str, Any]) -> Any:
        """A sparse matrix from its entries, rows and columns."""
        import scipy.sparse as sparse

        shape = tuple(as_count(side, "a side of a sparse matrix", most=self.most) for side in value["shape"])
        data, row, column = (self(part) for part in value["sparse"])
        entries = as_reals(data, "the entries of a sparse matrix")
        places = [as_whole(place, "rows and columns", shape=(len(entries),)) for place in (row, column)]
        return sparse.coo_array((entries, places), shape=shape).tocsr()

    def _built(self, registry: Registry, parameters: dict[str, Any]) -> Any:
        """An object of a registered class from its arguments."""
        cls = registry.find(parameters.pop(registry.kind))
        if "n" in parameters:
            as_count(parameters["n"], f"n of {cls.__name__}", most=self.most)
        if registry is KINDS and any(hasattr(entry, "tocsr") for entry in parameters.values()):
            raise TypeError(f"{cls.__name__} takes no sparse matrix")
        made = cls(**parameters)
        if isinstance(made, SetFunction) and not (hasattr(made, "n") and hasattr(made, "knows")):
            raise TypeError(f"{cls.__name__} is no family by itself")
        return made
