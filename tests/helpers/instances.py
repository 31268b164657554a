"""Instances that several tests need; generators of families are in :mod:`dsprog.generators`."""

import numpy as np
import scipy.linalg

import dsprog as ds
from dsprog.generators import discrete_data, random_graph


def dense_difference(n, groups=60):
    """Dense groups on both sides: too hard for any exact solver within seconds."""
    rng = np.random.default_rng(0)
    return ds.ConcaveOfModular(rng.random((groups, n))) - ds.ConcaveOfModular(rng.random((groups, n)))


def hard_cut(n=50):
    """A max-cut with terms that keep it from being quadratic: too hard for some seconds."""
    rng = np.random.default_rng(0)
    return ds.LogDet(np.eye(n)) * 1e-3 + ds.Modular(np.zeros(n)) - ds.Cut(random_graph(rng, n, 0.5))


def unknown_root():
    """√|S| as a callable of which nothing is known, with rewards."""
    return ds.FromCallable(lambda S: float(len(S) ** 0.5), 4) - ds.Modular([0.9, 0.1, 0.8, 0.2])


def classed_data(seed, classes=2, n=6, rows=50):
    """Discrete columns X, a class y that depends on two of them, and the generator that goes on."""
    rng = np.random.default_rng(seed)
    X, _ = discrete_data(rng, rows, n)
    y = (X[:, 0] + X[:, 2] * (rng.random(rows) < 0.8)) % classes if classes > 1 else np.zeros(rows, dtype=int)
    return X, y, rng


def block_diagonal(*blocks):
    """Matrices along the diagonal of one."""
    return scipy.linalg.block_diag(*blocks)
