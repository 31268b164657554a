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

from dsprog.core import algebra, constraints, modular
from dsprog.core import views as transforms
from dsprog.core.constraints import Constraint
from dsprog.core.set_function import SetFunction
from dsprog.functions import (
    cardinality,
    concave,
    concave_of,
    coverage,
    facility,
    graph,
    information,
    matroid,
    nuclear,
    regression,
    spectral,
)
from dsprog.functions import mutual_information as mutual
from dsprog.functions import table as tables

VERSION = 1
FAMILIES: dict[str, type] = {
    family.__name__: family
    for family in (
        algebra.Difference, algebra.Sum, transforms.Complement, transforms.Declared, transforms.Relabelled,
        transforms.Restriction, cardinality.CardinalityConcave, concave_of.ConcaveOf, concave.ConcaveOfModular,
        coverage.Coverage, facility.FacilityLocation, graph.Cut, graph.Pairwise, information.ConditionalEntropy,
        information.Entropy, mutual.MutualInformation, matroid.MatroidRank, modular.Modular, regression.LeastSquares,
        spectral.GaussianEntropy, spectral.LogDet, nuclear.NuclearNorm, tables.Table,
    )
}  # fmt: skip
CONSTRAINTS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        constraints.Cardinality, constraints.Exclude, constraints.Include, constraints.Knapsack,
        constraints.LinearConstraint, constraints.Partition,
    )
}  # fmt: skip


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
    kinds = [{"constraint": type(c).__name__, **encoded(vars(c), write)} for c in constraints]
    text = json.dumps({"dsprog": VERSION, "objective": encoded(objective, write), "constraints": kinds})
    if target.suffix == ".json":
        target.write_text(text + "\n")
    else:
        header = np.frombuffer(text.encode(), dtype=np.uint8)
        np.savez_compressed(target, header=header, **arrays)  # type: ignore[arg-type]


def encoded(value: Any, write: Callable[[np.ndarray], dict[str, Any]]) -> Any:
    """Arguments as JSON: numbers, words, lists, and objects for functions, arrays and sparse matrices."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return value.item()
    if isinstance(value, SetFunction):
        name = type(value).__name__
        if FAMILIES.get(name) is not type(value):
            raise TypeError(f"{name} cannot be saved: only the families of dsprog can, and no Python callable")
        return {"family": name, **encoded(value.parameters(), write)}
    if isinstance(value, np.ndarray):
        return write(value)
    if hasattr(value, "tocoo"):
        coo = value.tocoo()
        return {"sparse": [write(coo.data), write(coo.row), write(coo.col)], "shape": list(coo.shape)}
    if isinstance(value, (list, tuple)):
        return [encoded(entry, write) for entry in value]
    if isinstance(value, dict):
        return {key: encoded(entry, write) for key, entry in value.items()}
    raise TypeError(f"a {type(value).__name__} cannot be saved: only numbers, words, arrays and set functions can")


def load(path: str | os.PathLike[str]) -> SetFunction:
    """Read an objective that :meth:`SetFunction.save` wrote.

    >>> import dsprog as ds, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "instance.json"
    >>> (ds.CardinalityConcave(3) - ds.Modular([0.1, 0.9, 0.8])).save(path)
    >>> ds.minimize(ds.load(path)).S
    (1, 2)
    """
    return load_problem(path)[0]


def load_problem(path: str | os.PathLike[str]) -> tuple[SetFunction, list[Constraint]]:
    """Read an objective and its constraints."""
    document, arrays = read_document(Path(path))
    name = os.fspath(path)
    if not isinstance(document, dict) or document.get("dsprog") != VERSION:
        found = document.get("dsprog") if isinstance(document, dict) else None
        raise ValueError(f"{name} is not a dsprog instance of version {VERSION}: its header says {found!r}")
    try:
        objective = decoded(document["objective"], arrays)
        kinds = [build_constraint(entry, arrays) for entry in document.get("constraints", [])]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{name} is not a valid instance: {error}") from error
    if not isinstance(objective, SetFunction):
        raise ValueError(f"{name} is not a valid instance: its objective is not a set function")
    return objective, kinds


def read_document(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The JSON text of a file, and its arrays."""
    if not path.is_file():
        raise ValueError(f"{path} does not exist or is not a file")
    try:
        if path.read_bytes()[:2] != b"PK":
            return json.loads(path.read_text()), {}
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        return json.loads(arrays.pop("header").tobytes()), arrays
    except Exception as error:
        raise ValueError(f"{path} cannot be read as JSON or npz: {error}") from error


def build_constraint(entry: dict[str, Any], arrays: dict[str, np.ndarray]) -> Constraint:
    """A constraint from its kind and arguments."""
    kind = CONSTRAINTS.get(entry["constraint"])
    if kind is None:
        raise ValueError(f"unknown constraint {entry['constraint']!r}")
    return kind(**{key: decoded(value, arrays) for key, value in entry.items() if key != "constraint"})


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
    if "family" in value:
        family = FAMILIES.get(value["family"])
        if family is None:
            raise ValueError(f"unknown family {value['family']!r}")
        return family(**{key: decoded(entry, arrays) for key, entry in value.items() if key != "family"})
    return {key: decoded(entry, arrays) for key, entry in value.items()}
