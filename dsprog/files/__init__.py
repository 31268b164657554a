r"""Files, ours and those of other tools, as problems to minimise; the format is recognised by what the file says.

>>> import tempfile, pathlib, dsprog as ds
>>> path = pathlib.Path(tempfile.mkdtemp()) / "triangle"
>>> _ = path.write_text("3 3\n1 2 1\n2 3 1\n1 3 1\n")
>>> ds.minimize(read(path)).value
-2.0
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dsprog.core.native import is_native, load
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.files.graphs import read_dimacs, read_rudy
from dsprog.files.qubo import read_or_library, read_qbsolv, read_sparse
from dsprog.files.tokens import Tokens
from dsprog.files.uai import read_uai
from dsprog.functions.graph import Pairwise

FORMATS: dict[str, Callable[[Tokens, int], Pairwise]] = {
    "uai": read_uai,
    "sparse": read_sparse,
    "or-library": read_or_library,
    "qbsolv": read_qbsolv,
    "rudy": read_rudy,
    "dimacs": read_dimacs,
}
NATIVE = "dsprog"  # a JSON object, or a zip archive with one
SEVERAL = "or-library"  # the format with several problems in a file
COMMENTS = {"qbsolv": "c", "dimacs": "c"}


def read(path: str | os.PathLike[str], format: str | None = None, problem: int = 1) -> SetFunction | Problem:
    """Read a file as a function to minimise: a saved one, an energy, a QUBO, a max-cut or a maximum flow problem.

    A file that was saved with constraints gives a :class:`Problem`, which keeps them. Files may come from strangers:
    no code of theirs is run, and a header that asks for more than a million elements needs a file to match it.

    Parameters
    ----------
    path : path
    format : {"dsprog", "uai", "sparse", "or-library", "qbsolv", "rudy", "dimacs"}, optional
        Recognised by content if it is not given. BiqMac ``.sparse`` and rudy look alike: a name that ends in .sparse,
        or an entry on the diagonal, means the former.
    problem : int
        Which problem of a file with several (OR-Library), from 1.
    """
    source = Path(path)
    if not source.is_file():
        raise ValueError(f"{source} does not exist or is not a file")
    known = (NATIVE, *FORMATS)
    if format is not None and format not in known:
        raise ValueError(f"format must be {', '.join(known)}, got {format!r}")
    name = recognised(source) if format is None else format
    if name is None:
        raise ValueError(f"{source}, line 1: no known format begins like this; name one of {', '.join(known)}")
    if name != SEVERAL and problem != 1:
        raise ValueError(f"{source} holds one problem, not {problem}: only {SEVERAL} files have several")
    if name == NATIVE:
        return load(source)
    return FORMATS[name](Tokens(source, COMMENTS.get(name, "#")), problem)


def recognised(path: Path) -> str | None:
    """The format of a file, or None."""
    if is_native(path):
        return NATIVE
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
    except (OSError, UnicodeDecodeError):
        return None
    first = next((words for words in lines if words and words[0][0] not in "#c"), [])
    if first[:1] == ["MARKOV"]:
        return "uai"
    if first[:2] == ["p", "qubo"]:
        return "qbsolv"
    if first[:2] == ["p", "max"]:
        return "dimacs"
    if not all(word.lstrip("-").isdigit() for word in first) or not 1 <= len(first) <= 2:
        return None
    if len(first) == 1:
        return "or-library"
    diagonal = any(len(words) >= 3 and words[0] == words[1] for words in lines)
    return "sparse" if diagonal or path.suffix == ".sparse" else "rudy"
