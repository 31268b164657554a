"""The two published benchmarks of El Halabi, Orfanides and Hoheisel (2023); the data are not shipped.

They are read from the folder that the environment variable DSPROG_DATA names, ``../shared/data`` by default.
"""

from __future__ import annotations

import os
from pathlib import Path

import dsprog as ds
from dsprog.experiments.ds_instances import load

DATA = Path(os.environ.get("DSPROG_DATA", Path(__file__).parents[2] / "shared" / "data")) / "ds"
OPTIMA = {
    "speech_first100": -12.136223,
    "speech_first200": -21.177154,
    "speech_seed42": -49.296182,
    "mushroom_train_1": -0.9980143402,
}


def build(name: str) -> ds.Difference:
    """An instance by its name in :data:`OPTIMA`; FileNotFoundError where the data are not at hand."""
    return load(name, DATA)
