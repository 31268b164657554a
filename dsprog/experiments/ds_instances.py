"""Two published benchmarks of differences of submodular functions (El Halabi, Orfanides and Hoheisel 2023).

The data are not shipped. They are read from a folder with ``speech_*.npz`` (arrays ``utterance``, ``word``, ``shape``,
``c``, ``group``) and ``mushroom_*.csv.gz`` (the class first, then 0/1 features).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.modular import Modular
from dsprog.core.validation import Floats, Ints
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.concave_of import ConcaveOf
from dsprog.functions.coverage import Coverage
from dsprog.functions.information import ConditionalEntropy, Entropy

NAMES = ("speech_first100", "speech_first200", "speech_seed42", "mushroom_train_1")


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


def load(name: str, folder: Path) -> Difference:
    """An instance by its name; FileNotFoundError where the data are not at hand."""
    if name.startswith("speech"):
        data = np.load(folder / f"{name}.npz")
        n, words = (int(size) for size in data["shape"])
        return speech_objective(data["word"], data["utterance"], (words, n), data["c"], data["group"])
    table = np.loadtxt(folder / f"{name}.csv.gz", delimiter=",").astype(int)
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
