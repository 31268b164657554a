"""The two published benchmarks of El Halabi, Orfanides and Hoheisel (2023); the data are not shipped.

They are read from the folder that the environment variable DSPROG_DATA names, ``../shared/data`` by default.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import dsprog as ds

DATA = Path(os.environ.get("DSPROG_DATA", Path(__file__).parents[2] / "shared" / "data")) / "ds"
OPTIMA = {
    "speech_first100": -12.136223,
    "speech_first200": -21.177154,
    "speech_seed42": -49.296182,
    "mushroom_train_1": -0.9980143402,
}


def speech(name: str) -> ds.Difference:
    """√(number of distinct words in S) - Σ over groups of √(weight of S in the group)."""
    import scipy.sparse as sparse

    data = np.load(DATA / f"{name}.npz")
    n, words = (int(size) for size in data["shape"])
    members = sparse.csr_array((np.ones(len(data["word"])), (data["word"], data["utterance"])), shape=(words, n))
    groups = (data["group"] == np.unique(data["group"])[:, None]) * data["c"]
    return ds.ConcaveOf(ds.Coverage(members), "sqrt") - ds.ConcaveOfModular(groups)


def mushroom(name: str) -> ds.Difference:
    """1e-4 |S| - I(X_S; C) in bits, as (H(X_S | C) + 1e-4 |S|) - H(X_S)."""
    data = np.loadtxt(DATA / f"{name}.csv.gz", delimiter=",").astype(int)
    X, y = data[:, 1:], data[:, 0]
    f = ds.ConditionalEntropy(X, y) / np.log(2) + ds.Modular(np.full(X.shape[1], 1e-4))
    return f - ds.Entropy(X) / np.log(2)


def build(name: str) -> ds.Difference:
    """An instance by its name in :data:`OPTIMA`; FileNotFoundError where the data are not at hand."""
    return (speech if name.startswith("speech") else mushroom)(name)
