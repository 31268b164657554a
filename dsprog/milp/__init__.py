"""Linear and mixed-integer programmes; :mod:`dsprog.milp.highs` is the only file that imports HiGHS.

- :func:`programme`: small dense programmes of prisms, in HiGHS, scipy or SCIP
- :mod:`dsprog.milp.sparse`: large sparse ones of compact models, in HiGHS or SCIP
- :mod:`dsprog.milp.growing`: linear ones that grow by rows

>>> import numpy as np
>>> p = programme([-1.0, -1.0], [0, 0], [1, 1], integer=True, L=np.zeros((1, 2)), b=[1.0])
>>> p.exchange(W=np.ones((1, 1)), d=[0.0])
>>> p.require([[-2.0, -2.0]], [-3.0])
>>> found = p.solve()
>>> found.status, round(found.bound, 6), round(float(found.z.sum()), 6)
('optimal', -1.0, 1.0)
"""

from __future__ import annotations

import warnings

from numpy.typing import ArrayLike

from dsprog.core import packages
from dsprog.core.validation import Floats
from dsprog.milp.by_highs import HighsProgramme
from dsprog.milp.by_scip import ScipProgramme
from dsprog.milp.by_scipy import ScipyProgramme
from dsprog.milp.programme import Programme

BACKENDS: dict[str, type[Programme]] = {"highs": HighsProgramme, "scipy": ScipyProgramme, "scip": ScipProgramme}
BACKEND_PACKAGES = {  # the module, and what to install where it is missing
    "highs": ("highspy", "highspy"),
    "scipy": ("scipy", "scipy"),
    "scip": ("pyscipopt", "dsprog[scip]"),
}


def programme(
    c: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    integer: ArrayLike,
    L: Floats,
    b: ArrayLike,
    backend: str | None = None,
    threads: int = 1,
) -> Programme:
    """A programme without columns λ and rows R yet.

    Parameters
    ----------
    c, lower, upper : (m,) arrays
        Costs and box of z.
    integer : bool or (m,) booleans
        Which of z are whole numbers.
    L, b : arrays
        Left and right side of L z + W λ = b.
    backend : {"highs", "scipy", "scip"}, optional
        HiGHS by default; scipy, with a warning, where highspy cannot be imported.
    threads : int
        Of HiGHS.
    """
    if backend is None:
        backend = "highs" if importable("highs") else "scipy"
        if backend == "scipy":
            message = "highspy cannot be imported, so scipy solves the programmes, more slowly: pip install highspy"
            warnings.warn(message, stacklevel=2)
    else:
        check_backend(backend)
    return BACKENDS[backend](c, lower, upper, integer, L, b, threads)


def check_backend(backend: str) -> None:
    """Refuse a backend that there is not, or whose package is not there."""
    if backend not in BACKENDS:
        raise ValueError(f"backend must be {', '.join(BACKENDS)} or None, got {backend!r}")
    if not importable(backend):
        install = BACKEND_PACKAGES[backend][1]
        raise ImportError(f"backend {backend!r} needs a package that is not there: pip install {install}")


def importable(backend: str) -> bool:
    """Whether the package of a backend can be imported."""
    return packages.importable(BACKEND_PACKAGES[backend][0])
