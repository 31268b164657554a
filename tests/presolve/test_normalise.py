"""One way to write an objective: terms that are one function are joined."""

import numpy as np

import dsprog as ds
from dsprog.functions.table import all_masks
from dsprog.presolve.normalise import joined
from tests.helpers.instances import classed_data


def test_entropies_of_the_same_data_are_joined():
    X, y, _ = classed_data(0)
    f, g = ds.ConditionalEntropy(X, y) / np.log(2) + ds.Modular(np.ones(6)), ds.Entropy(X) / np.log(2)
    both = joined(f - g)
    assert {type(h) for _, h in both.terms} == {ds.MutualInformation, ds.Modular}
    np.testing.assert_allclose(both.values(all_masks(6)), (f - g).values(all_masks(6)), atol=1e-12)
    other = joined(f - 2.0 * g)
    assert all(not isinstance(h, ds.MutualInformation) for _, h in other.terms)
