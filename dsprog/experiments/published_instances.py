"""Two published benchmarks of differences of submodular functions (El Halabi, Orfanides and Hoheisel 2023).

The data are not shipped. They are read from a folder with ``speech_*.npz`` (arrays ``utterance``, ``word``, ``shape``,
``c``, ``group``) and ``mushroom_*.csv.gz`` (the class first, then 0/1 features), by default from ``ds`` in the
:func:`~dsprog.experiments.data_folder.data_folder`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.modular import Modular
from dsprog.core.validation import Floats, Ints
from dsprog.experiments.data_folder import data_folder
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.concave_of import ConcaveOf
from dsprog.functions.coverage import Coverage
from dsprog.functions.information import ConditionalEntropy, Entropy

OPTIMA = {  # certified
    "speech_first100": -12.136223,
    "speech_first200": -21.177154,
    "speech_seed42": -49.296182,
    "mushroom_train_1": -0.9980143402,
}


def speech_objective(words: Ints, utterances: Ints, shape: tuple[int, int], c: Floats, group: Ints) -> Difference:
    """√(number of distinct words in S) - Σ over groups of √(weight of S in the group); ``shape`` is (words, n)."""
    import scipy.sparse as sparse

    members = sparse.csr_array((np.ones(len(words)), (words, utterances)), shape=shape)
    groups = (group == np.unique(group)[:, None]) * c
    return Difference(ConcaveOf(Coverage(members), "sqrt"), ConcaveOfModular(groups))


def feature_objective(X: Ints, y: Ints, cost: float = 1e-4) -> Difference:
    """cost |S| - I(X_S; y) in bits, as it was published: (H(X_S | y) + cost |S|) - H(X_S)."""
    f = ConditionalEntropy(X, y) / np.log(2) + Modular(np.full(X.shape[1], cost))
    return Difference(f, Entropy(X) / np.log(2))


def load_published(name: str, folder: Path | None = None) -> Difference:
    """An instance by its name in :data:`OPTIMA`."""
    place = data_folder() / "ds" if folder is None else folder
    try:
        return speech_in(place / f"{name}.npz") if name.startswith("speech") else table_in(place / f"{name}.csv.gz")
    except FileNotFoundError as error:
        message = "is not there: set DSPROG_DATA to the folder that holds ds/, or name the folder of the data"
        raise FileNotFoundError(f"{place / name} {message}") from error


def speech_in(path: Path) -> Difference:
    """The objective of a file of arrays."""
    data = np.load(path)
    n, words = (int(size) for size in data["shape"])
    return speech_objective(data["word"], data["utterance"], (words, n), data["c"], data["group"])


def table_in(path: Path) -> Difference:
    """The objective of a table, the class in its first column."""
    table = np.loadtxt(path, delimiter=",").astype(int)
    return feature_objective(table[:, 1:], table[:, 0])


def small_likeness(name: str) -> Difference:
    """An instance of the same shape from random numbers, for tests."""
    rng = np.random.default_rng(len(name))
    if name.startswith("speech"):
        n = 30
        words, utterances = np.nonzero(rng.random((60, n)) < 0.1)
        return speech_objective(words, utterances, (60, n), rng.uniform(0.5, 2.0, n), rng.integers(0, 4, n))
    X = rng.integers(0, 2, (200, 12))
    return feature_objective(X, X[:, 1] ^ (X[:, 4] & X[:, 7]), cost=1e-3)
