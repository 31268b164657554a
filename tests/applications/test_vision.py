"""Recipes for images and matching against enumeration and what was put in."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.applications.expansion import alpha_expansion, expansion_move, labelling_energy
from dsprog.applications.matching import match_points, matching_energy
from dsprog.applications.vision import grid_pairs, learned_potentials, pair_energy, pixel_pairs, restore, segment
from dsprog.functions.table import all_masks


def test_pixel_pairs_and_grids():
    assert [part.tolist() for part in pixel_pairs((2, 3), (0, 1))] == [[0, 1, 3, 4], [1, 2, 4, 5]]
    assert [part.tolist() for part in pixel_pairs((2, 3), (1, -1))] == [[1, 2], [3, 4]]
    weights = grid_pairs((3, 4), [np.arange(9), np.arange(8)])
    assert (weights != weights.T).nnz == 0
    assert weights[0, 4] == 0
    assert weights[1, 5] == 1


@pytest.mark.parametrize("seed", range(5))
def test_pair_energy_is_the_sum_of_its_tables(seed):
    rng = np.random.default_rng(seed)
    shape = (2, 4)
    tables = {offset: rng.normal(size=(2, 2)) for offset in ((0, 1), (1, 0), (1, -1), (0, 2))}
    energy = pair_energy(shape, tables)
    for x in all_masks(8):
        total = sum(
            table[int(x[i]), int(x[j])] for offset, table in tables.items() for i, j in zip(*pixel_pairs(shape, offset))
        )
        assert energy(x) == pytest.approx(total)


def test_segmentation_keeps_its_seeds():
    rng = np.random.default_rng(0)
    image = np.zeros((20, 30, 3))
    image[5:15, 8:20] = (0.9, 0.2, 0.1)
    seeds = np.full((20, 30), -1)
    seeds[6, 9], seeds[0, 0], seeds[19, 29] = 1, 0, 1
    found = segment(image + 0.05 * rng.normal(size=image.shape), seeds=seeds)
    assert found.result.proof == "one maximum flow"
    assert found.mask[19, 29]
    assert (found.mask == (image[:, :, 0] > 0.5)).mean() > 0.99
    with pytest.raises(ValueError, match="seeds must have shape"):
        segment(image, seeds=np.zeros((2, 2)))


def test_restoration_with_terms_of_both_signs():
    rng = np.random.default_rng(0)
    chess = (np.add.outer(np.arange(10), np.arange(12)) % 2).astype(int)
    noisy = chess ^ (rng.random(chess.shape) < 0.1)
    found = restore(noisy, potentials=learned_potentials(chess))
    assert found.result.certified
    assert (found.mask == chess).mean() > 0.95
    plain = restore((np.indices((9, 9))[0] > 4).astype(int), smoothness=1.0)
    assert (plain.mask == (np.indices((9, 9))[0] > 4)).all()
    for bad, sentence in (([[0.5]], "only zeros and ones"), ([0, 1], "image must have shape")):
        with pytest.raises(ValueError, match=sentence):
            restore(bad)
    with pytest.raises(ValueError, match="noise must lie between"):
        restore([[0, 1]], noise=0.7)


@pytest.mark.parametrize("seed", range(6))
def test_alpha_expansion(seed):
    rng = np.random.default_rng(seed)
    n, count = 5, 3
    weights = np.triu(rng.random((n, n)), 1)
    weights = weights + weights.T
    distance = 1.0 - np.eye(count) if seed % 2 else rng.integers(0, 5, (count, count)).astype(float)
    distance = distance + distance.T
    unary = 3 * rng.random((n, count))
    graph = ds.Cut(weights).adjacency
    labels = rng.integers(0, count, n)
    for alpha in range(count):
        move = expansion_move(unary, graph, distance, labels, alpha)
        for x in all_masks(n):
            moved = np.where(x, alpha, labels)
            assert move(x) == pytest.approx(labelling_energy(unary, graph, distance, moved))
    found = alpha_expansion(unary, weights, distance)
    values = [
        labelling_energy(unary, graph, distance, np.array(labels))
        for labels in itertools.product(range(count), repeat=n)
    ]
    assert found.energy == pytest.approx(labelling_energy(unary, graph, distance, found.labels))
    assert found.energy >= min(values) - 1e-9
    if seed % 2:
        assert found.energy <= 2 * min(values) + 1e-9  # Potts: a factor of two


def test_matching_finds_the_turned_points():
    rng = np.random.default_rng(1)
    points = rng.random((6, 2))
    order, angle = rng.permutation(6), 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    other = np.vstack([(points @ turn)[order] + 3, [[9.0, 9.0]]])
    found = match_points(points, other, scale=0.02)
    assert found.result.certified
    assert found.pairs == tuple((i, int(np.flatnonzero(order == i)[0])) for i in range(6))
    small = matching_energy(points[:3], other[:3], 2.0, 0.1)
    best = all_masks(9)[small.values(all_masks(9)).argmin()].reshape(3, 3)
    assert best.sum(axis=0).max() <= 1
    assert best.sum(axis=1).max() <= 1
    with pytest.raises(ValueError, match="second must have points of 2 coordinates"):
        match_points(points, np.ones((3, 3)))


def test_recipes_are_found_in_the_applications_too():
    from dsprog import applications

    assert {*applications.__all__} <= {*dir(applications)}
    assert applications.segment is segment
    assert applications.restore is restore
