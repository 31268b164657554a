"""Polynomials: what they mean, how they are written, and what is refused."""

import numpy as np
import pytest

import dsprog as ds


def test_repeated_monomials_and_elements():
    f = ds.PseudoBoolean(3, [(0, 0, 1), (1, 0), (), (2,)], [1.0, 2.0, 5.0, -1.0])
    assert f([0, 1]) == 8.0
    assert f([0, 2]) == 4.0
    assert f == ds.PseudoBoolean(3, [[0, 0, 1], [1, 0, -1], [-1, -1, -1], [2, -1, -1]], [1.0, 2.0, 5.0, -1.0])
    assert f.quadratic_form().pairs.nnz == 2


def test_signs():
    rng = np.random.default_rng(0)
    f = ds.PseudoBoolean.of_signs(5, [(0, 1, 2), (3,), (1, 1), (0, 4, 3, 2)], [2.0, -1.0, 7.0, 0.5])
    for mask in rng.random((10, 5)) < 0.5:
        s = 1 - 2 * mask
        assert f(mask) == 2 * s[0] * s[1] * s[2] - s[3] + 7 + 0.5 * s[0] * s[4] * s[3] * s[2]


def test_files(tmp_path):
    f = ds.PseudoBoolean(4, [(0, 1, 3), (2,)], [1.5, -2.0])
    for name in ("f.json", "f.npz"):
        f.save(tmp_path / name)
        assert ds.load(tmp_path / name) == f


def test_products_cancel():
    f = ds.PseudoBoolean(4, [(0, 1, 3)], [1.5])
    assert (f - f)([0, 1, 3]) == 0.0
    assert ds.minimize(f - f).value == 0.0


@pytest.mark.parametrize(
    ("monomials", "error"),
    [([(0, 3)], ValueError), ([(0, -2)], ValueError), ([(0.5,)], ValueError), (3, TypeError), ([0, 1], TypeError)],
)
def test_bad_monomials(monomials, error):
    with pytest.raises(error, match="monomials must"):
        ds.PseudoBoolean(3, monomials, [1.0] * (len(monomials) if isinstance(monomials, list) else 1))
