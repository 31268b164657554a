"""What is done with a simplex: it is made, divided and looked into."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.exact.prismatic import prism
from dsprog.functions.table import all_masks
from tests.helpers.prisms import sets_in


@pytest.mark.parametrize("start", [(), (1,), (0, 2), (0, 1, 2, 3)])
def test_first_simplex_contains_the_cube(start):
    mask = np.isin(np.arange(4), start)
    vertices = prism.first_simplex(mask)
    assert sets_in(vertices, all_masks(4)).all()
    np.testing.assert_array_equal(vertices[0], mask)


def test_parts_fill_the_simplex():
    rng = np.random.default_rng(0)
    vertices = rng.normal(size=(4, 3))
    volume = abs(np.linalg.det(vertices[1:] - vertices[0]))
    halves = prism.bisection(vertices)
    for weights in (rng.dirichlet(np.ones(4)), np.array([0.2, 0.0, 0.8, 0.0]), halves):
        children = prism.parts(vertices, weights, weights @ vertices)
        assert len(children) == (weights > 0).sum()
        volumes = [abs(np.linalg.det(child[1:] - child[0])) for child in children]
        assert sum(volumes) == pytest.approx(volume)
    i, j = np.flatnonzero(halves)
    lengths = np.linalg.norm(vertices[:, None] - vertices[None], axis=2)
    assert lengths[i, j] == lengths.max()


def test_weights_of_vertices_and_points_outside_are_refused():
    vertices = prism.first_simplex(np.zeros(3, dtype=bool))
    assert not prism.can_subdivide_at(prism.barycentric(vertices, vertices[2]))
    assert not prism.can_subdivide_at(prism.barycentric(vertices, np.array([-0.1, 0.5, 0.5])))
    assert prism.can_subdivide_at(prism.barycentric(vertices, np.ones(3)))


def test_chain_of_a_point_averages_to_the_extension():
    x = np.array([0.2, 0.9, 0.5])
    chain = prism.chain_sets(x[None])[0]
    assert chain.astype(int).tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1]]
    f = ds.CardinalityConcave(3, "sqrt")
    assert np.diff(np.concatenate([[0], np.sort(x), [1]]))[::-1] @ f.values(chain) == pytest.approx(
        ds.lovasz_extension(f, x)[0]
    )
