"""A problem as a file for other solvers: the compact mixed-integer programme, as MPS or LP."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from dsprog.core.constraints import Constraint
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.exact.compact import export
from dsprog.solve.pipeline import prepared

SUFFIXES = (".mps", ".lp")


def write_programme(
    objective: SetFunction | Problem, path: str | os.PathLike[str], constraints: Iterable[Constraint] = ()
) -> None:
    """Write min f - g as a mixed-integer programme that other solvers read.

    Column ``cj`` of the file is element j of the set, for j < n. The optimum is that of the problem where all terms are
    sums of parts that columns can express: modular functions, coverage, facility location, cuts, pairs, polynomials.
    Other terms have their chords and first cuts instead, so that the optimum of the file is a lower bound.

    Parameters
    ----------
    objective : SetFunction or Problem
    path : path
        Ends in ``.mps`` or ``.lp``.
    constraints : iterable of Constraint

    Examples
    --------
    >>> import dsprog as ds, pathlib, tempfile
    >>> from dsprog.adapters.programmes import write_programme
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "coverage.mps"
    >>> costs, rewards = ds.Modular([1.0, 1.0, 1.0]), ds.Coverage([[1, 1, 0], [0, 1, 1]], [2.0, 1.0])
    >>> write_programme(costs - rewards, file, [ds.Cardinality(max=2)])
    >>> "ROWS" in file.read_text()
    True
    """
    file = Path(path)
    if file.suffix not in SUFFIXES:
        raise ValueError(f"path must end in .mps or .lp, got {file.name!r}")
    if not file.parent.is_dir():
        raise ValueError(f"path must lie in a folder that is there, got {file.parent}")
    export(prepared(objective, constraints), file)
