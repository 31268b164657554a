"""Problems by name: a file of any format, or a generator with its n and seed.

>>> problem = load_instance("coverage:n=8,seed=1")
>>> problem.n, problem.constraints
(8, ())
"""

from __future__ import annotations

from pathlib import Path

from dsprog.core.problem import Problem, as_problem
from dsprog.files import read
from dsprog.generators import FAMILIES


def load_instance(name: str, kind: str | None = None, number: int = 1) -> Problem:
    """The problem in a file, or of a generator such as ``concave:n=30,seed=0``."""
    family, _, options = name.partition(":")
    if family in FAMILIES:
        return as_problem(FAMILIES[family](*generator_options(options)), ())
    if not Path(name).exists():
        raise ValueError(
            f"instance must be a file or a generator such as concave:n=30,seed=0 "
            f"(one of {', '.join(FAMILIES)}), got {name!r}"
        )
    return read_instance(Path(name), kind, number)


def read_instance(path: Path, kind: str | None = None, number: int = 1) -> Problem:
    """The objective and the constraints in a file; ``kind`` and ``number`` are ``format`` and ``problem`` of read."""
    return as_problem(read(path, kind, number), ())


def generator_options(text: str) -> tuple[int, int]:
    """N and the seed of ``n=30,seed=0``; 20 and 0 where left out."""
    options = {"n": 20, "seed": 0}
    for part in filter(None, text.split(",")):
        key, _, number = part.partition("=")
        if key not in options or not number.isdecimal():
            raise ValueError(f"a generator takes n=NUMBER and seed=NUMBER, got {part!r}")
        options[key] = int(number)
    return options["n"], options["seed"]
