"""Sums, differences and knowledge follow their rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsprog as ds
from dsprog.functions.table import all_masks
from dsprog.testing import is_submodular

MASKS = all_masks(5)
RNG = np.random.default_rng(0)
FUNCTIONS = {
    "concave": ds.ConcaveOfModular(RNG.random((3, 5))),
    "coverage": ds.Coverage(RNG.random((6, 5)) < 0.5),
    "pairwise": ds.Pairwise(RNG.normal(size=(5, 5))),
    "modular": ds.Modular(RNG.normal(size=5), 1.0),
    "loss": ds.LeastSquares(RNG.normal(size=(9, 5)), RNG.normal(size=9)),
    "information": ds.MutualInformation(RNG.integers(0, 2, (20, 5)), RNG.integers(0, 2, 20)),
}
terms = st.lists(st.tuples(st.sampled_from([-2.0, -1.0, 0.5, 1.0, 3.0]), st.sampled_from(list(FUNCTIONS))), max_size=5)


@given(terms, terms)
def test_linear_combinations_mean_what_they_say(left, right):
    f = sum((a * FUNCTIONS[name] for a, name in left), ds.Modular(np.zeros(5)))
    g = sum((a * FUNCTIONS[name] for a, name in right), ds.Modular(np.zeros(5)))
    wanted = sum((a * FUNCTIONS[name].values(MASKS) for a, name in left), np.zeros(32)) - sum(
        (a * FUNCTIONS[name].values(MASKS) for a, name in right), np.zeros(32)
    )
    objective = f - g
    np.testing.assert_allclose(objective.values(MASKS), wanted, atol=1e-9)
    np.testing.assert_allclose(objective.f.values(MASKS) - objective.g.values(MASKS), wanted, atol=1e-9)
    for side in (objective.f, objective.g):
        assert not side.knows.submodular or is_submodular(side)
    names = [term.function for term in objective.terms]
    assert len(names) == len({id(h) for h in names})


@given(st.sampled_from(list(FUNCTIONS)), st.sampled_from([-1.5, -1.0, 0.0, 2.0]))
def test_knowledge_of_multiples_is_never_refuted(name, factor):
    ds.testing.check_set_function(factor * FUNCTIONS[name] + ds.Modular(np.ones(5)))


def test_equal_terms_cancel_even_if_built_twice():
    members = RNG.random((6, 5)) < 0.5
    f, g = ds.Coverage(members), ds.FacilityLocation(RNG.random((3, 5)))
    assert (f + g - ds.Coverage(members)).terms == (f + g - f).terms[:1]
    assert (f - ds.Coverage(members)).terms == ()
    assert [t.coefficient for t in (3 * f - f).terms] == [2.0]


def test_different_data_do_not_cancel():
    W = RNG.random((2, 5))
    for other in (
        ds.ConcaveOfModular(W, concave="log1p"),
        ds.ConcaveOfModular(W, [1.0, 2.0]),
        ds.ConcaveOfModular(2 * W),
    ):
        assert len((ds.ConcaveOfModular(W) - other).terms) == 2


def test_supermodular_terms_change_sides():
    pairwise = ds.Pairwise(np.triu(np.ones((4, 4)), 1))
    objective = ds.Coverage(np.eye(4)) + pairwise - 0.0
    assert objective.is_certifiable
    assert objective.g([0, 1]) == -1.0


def test_unknown_terms_stay_where_they_were_written():
    loss = FUNCTIONS["loss"]
    objective = loss - FUNCTIONS["coverage"]
    assert not objective.is_certifiable
    assert objective.f.terms[0].function is loss


def test_constants_and_numbers():
    f = FUNCTIONS["coverage"]
    assert (f + 3)([0]) == f([0]) + 3
    assert (3 - f)([0]) == 3 - f([0])
    assert (f - 3)([0]) == f([0]) - 3
    assert (f / 2)([0]) == f([0]) / 2


def test_sets_by_elements_or_mask():
    f = FUNCTIONS["concave"]
    assert f([0, 3]) == f((3, 0)) == f({0, 3}) == f(np.array([True, False, False, True, False]))
    assert f([]) == f(np.zeros(5, dtype=bool)) == 0.0
    assert f(range(5)) == f(np.ones(5, dtype=bool))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_decompose(name):
    v = ds.Table.of(FUNCTIONS[name])
    parts = ds.decompose(v)
    assert parts.is_certifiable
    np.testing.assert_allclose(parts.values(MASKS), v.values(MASKS), atol=1e-9)
    assert is_submodular(parts.f)
    assert is_submodular(parts.g)


def test_decompose_with_the_users_curvature():
    v = ds.FromCallable(lambda S: float(len(S) ** 2), 5)
    with pytest.raises(ValueError, match="pass curvature"):
        ds.decompose(v)
    parts = ds.decompose(v, curvature=2.0)
    assert parts.is_certifiable
    assert is_submodular(parts.f)
    assert parts([0, 1, 2]) == 9.0


def test_decompose_of_a_table_uses_the_smallest_pairwise_part():
    table = np.random.default_rng(5).normal(size=32)
    g = ds.decompose(ds.Table(table)).g
    alpha = -np.array([[g([i, j]) - g([i]) - g([j]) + g([]) if i != j else 0.0 for j in range(5)] for i in range(5)])
    for i, j in zip(*np.nonzero(np.triu(alpha))):
        smaller = alpha.copy()
        smaller[i, j] = smaller[j, i] = alpha[i, j] - 1e-3
        f = ds.Table(table + ds.Pairwise(-np.triu(smaller)).values(MASKS))
        assert not f.knows.submodular


def test_oracle_calls_are_counted_once():
    f = FUNCTIONS["concave"] + FUNCTIONS["coverage"]
    with ds.count_oracle_calls() as tally:
        f.values(MASKS)
        f.chains([[0, 1, 2, 3, 4]])
    assert tally.calls == 32 + 5


def test_transformed_functions_still_split():
    for f in (FUNCTIONS["pairwise"], FUNCTIONS["information"], ds.Table(RNG.normal(size=32))):
        for g in (f.complement(), f.relabel([4, 3, 2, 1, 0]), f.restrict([1], [0, 1, 2, 3])):
            assert ds.decompose(g).is_certifiable


def test_rounding_in_coefficients_cancels():
    f = FUNCTIONS["coverage"]
    assert (0.1 * f + 0.2 * f - 0.3 * f).terms == ()


def test_a_family_that_stores_nothing_is_itself_only():
    class Bare(ds.SetFunction):
        def __init__(self, w):
            self.n, self.knows = 5, ds.Knowledge()

        def _values(self, masks):
            return masks.sum(axis=1) * 1.0

    assert len((Bare(1) - Bare(1)).terms) == 2


def test_counts_add_up_through_nested_counters():
    with ds.count_oracle_calls() as outer:
        result = ds.minimize(FUNCTIONS["coverage"] - FUNCTIONS["concave"])
    assert outer.calls >= result.oracle_calls > 0
