"""Where published data are looked for that are too large, or not free, to be shipped."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """The folder that the environment variable DSPROG_DATA names; ``../shared/data`` beside the repository by default.

    It holds ``ds`` (speech and mushroom), ``qubo`` and ``energies``.
    """
    return Path(os.environ.get("DSPROG_DATA", Path(__file__).parents[3] / "shared" / "data"))
