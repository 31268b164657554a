"""Quadratic forms: spins, steps, fixing and views, against enumeration."""

import numpy as np
import pytest

from dsprog.core.problem import as_problem
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.functions.table import all_masks
from dsprog.generators import FAMILIES
from dsprog.solve.rules.polynomials import is_quadratic
from tests.helpers.quadratic import agreeing, random_form


@pytest.mark.parametrize("seed", range(60))
def test_spins_and_steps(seed):
    form = random_form(seed)
    masks = all_masks(form.n)
    values, steps = form.values(masks), Steps.of(form)
    C, k = form.spin_matrix()
    s = np.hstack([np.ones((len(masks), 1)), 1.0 - 2 * masks])
    np.testing.assert_allclose(k - np.einsum("bi,ij,bj->b", s, C, s), values, atol=1e-9)
    assert not np.diag(C).any()
    if steps.size:
        np.testing.assert_allclose(np.round((values - 3) / steps.size), (values - 3) / steps.size)
        assert steps.rounded(values.min() - 0.5 * steps.size) == pytest.approx(values.min())
        assert steps.rounded(steps.needed(values.min()) + 1e-12) == pytest.approx(values.min())
    labels = np.random.default_rng(seed).integers(-1, 2, form.n)
    rest, free = form.fixed(labels)
    np.testing.assert_allclose(
        np.sort(rest.values(all_masks(rest.n))), np.sort(form.values(agreeing(labels, form.n))), atol=1e-9
    )
    assert len(free) == rest.n


def test_the_form_is_seen_through_transformations():
    plain = FAMILIES["pairwise"](9, 1)
    changed = plain.complement().relabel([3, 1, 0, 2, 8, 7, 6, 5, 4]).restrict([2, 5], [0, 1, 2, 4, 5, 6, 8])
    form = QuadraticForm.of(changed + 2.0 * plain.restrict(within=range(5)).declare(integral=True))
    masks = all_masks(5)
    expected = changed.values(masks) + 2.0 * plain.values(np.hstack([masks, np.zeros((32, 4), dtype=bool)]))
    np.testing.assert_allclose(form.values(masks), expected, atol=1e-9)
    assert is_quadratic(as_problem(changed, []))
