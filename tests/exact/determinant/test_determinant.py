"""Log determinants against costs: bounds against all sets, the search against enumeration."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.exact.determinant.determinant_problem import Reward, reward_of
from dsprog.exact.determinant.determinant_starts import DeterminantMoves, good_sets, value_of
from dsprog.exact.determinant.gamma_bound import DeterminantNode, diagonal_slope, tangent
from dsprog.exact.determinant.measured_branching import Losses, branching_place, upper_without
from dsprog.exact.determinant.size_polytope import best_set, on_total, projected
from dsprog.exact.determinant.splitting import DiagonalSplit, Optimiser, first_thetas, scaled
from dsprog.exact.determinant.variance_search import VarianceGoal, searched_by_variances
from dsprog.experiments.data_folder import data_folder

KINDS = ("plain", "diagonal", "duplicates", "near-singular", "scaled", "kernel")


def covariance(kind, n, seed):
    rng = np.random.default_rng([seed, n, KINDS.index(kind)])
    B = rng.normal(size=(n, n + 1))
    C = B @ B.T / n + 0.1 * np.eye(n)
    if kind == "diagonal":
        return np.diag(np.round(rng.uniform(0.5, 2.0, n), 1))
    if kind == "duplicates":
        half = rng.integers(0, max(1, n // 2), n)
        return C[np.ix_(half, half)] + 1e-3 * np.eye(n)
    if kind == "near-singular":
        return B[:, :2] @ B[:, :2].T + 1e-8 * np.eye(n)
    if kind == "scaled":
        scale = 10.0 ** rng.uniform(-3, 3, n)
        return C * np.outer(scale, scale)
    if kind == "kernel":
        points = rng.random((n, 2))
        return np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 0.1) + 0.05 * np.eye(n)
    return C


def all_masks(n):
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)


def free_reward(kind, n, seed, least=0, most=None):
    rng = np.random.default_rng(seed)
    return Reward(
        0.3, rng.normal(size=n), np.array([1.5]), (covariance(kind, n, seed),), least, n if most is None else most
    )


# -- the bound ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("s", [1, 2, 4, 7])
def test_tangents_lie_above_every_set_and_the_bound_is_exact_at_sets(kind, s):
    n, rng = 7, np.random.default_rng(s)
    reward = free_reward(kind, n, s, 0, s)
    masks = all_masks(n)
    masks = masks[masks.sum(axis=1) <= s]
    values = np.array([value_of(reward, mask) for mask in masks])
    for theta in first_thetas(reward):
        split = DiagonalSplit.of(reward, theta)
        node = split.root()
        for mask, value in zip(masks[:20], values[:20]):
            assert tangent(node, mask.astype(float))[0] == pytest.approx(value, abs=1e-9 + split.rounding)
        for _ in range(10):
            x = rng.random(n) * (rng.random(n) < 0.8)
            value, g = tangent(node, x)
            assert (value + (masks - x) @ g >= values - split.rounding).all()


@pytest.mark.parametrize("s", [1, 3, 5, 8])
def test_slopes_agree_with_finite_differences(s):
    n, rng, h = 8, np.random.default_rng(s), 1e-6
    C = covariance("plain", n, s)
    theta = np.log(0.5 * np.linalg.eigvalsh(C)[0]) + 0.1 * rng.normal(size=n)
    x = rng.uniform(0.1, 0.9, n)

    def value(x, theta):
        return tangent(DeterminantNode(0.0, theta, np.ones(1), (scaled(C, theta) - np.eye(n),), 0, s), x)

    steps = h * np.eye(n)
    in_x = [(value(x + e, theta)[0] - value(x - e, theta)[0]) / (2 * h) for e in steps]
    in_theta = [(value(x, theta + e)[0] - value(x, theta - e)[0]) / (2 * h) for e in steps]
    np.testing.assert_allclose(value(x, theta)[1], in_x, atol=1e-6)
    np.testing.assert_allclose(diagonal_slope(scaled(C, theta) - np.eye(n), x, s), in_theta, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_diagonal_stays_below_the_matrix_and_its_bound_above_the_optimum(kind):
    for n, s in ((1, 1), (5, 2), (9, 4), (9, 8)):
        reward = free_reward(kind, n, 3, s, s)
        root = Optimiser(reward, -np.inf, lambda: False).run(first_thetas(reward))
        C, d = reward.C[0], np.exp(root.split.theta[0])
        half = 1 / np.sqrt(np.diagonal(C))
        assert np.linalg.eigvalsh((C - np.diag(d)) * np.outer(half, half))[0] >= -1e-14
        masks = all_masks(n)
        best = max(value_of(reward, mask) for mask in masks[masks.sum(axis=1) == s])
        assert root.upper + root.split.rounding >= best


def test_nodes_inherit_the_diagonal():
    reward = free_reward("plain", 8, 1)
    split = DiagonalSplit.of(reward, first_thetas(reward)[2])
    I = np.arange(8) < 3
    F = np.array([4, 5, 7])
    node = split.node(I, F, 0, 3)
    assert np.linalg.eigvalsh(node.P[0])[0] >= -1e-12
    for mask in all_masks(3):
        whole = I.copy()
        whole[F[mask]] = True
        inside = (
            node.base + node.u[mask].sum() + 1.5 * np.linalg.slogdet((np.eye(3) + node.P[0])[np.ix_(mask, mask)])[1]
        )
        assert inside == pytest.approx(value_of(reward, whole))


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_without_an_element_hold_for_all_sets_without_it(kind):
    n, rng = 7, np.random.default_rng(5)
    for least, most in ((0, 7), (3, 3), (2, 5), (6, 6)):
        reward = free_reward(kind, n, most, least, most)
        split = DiagonalSplit.of(reward, first_thetas(reward)[0])
        root, x = split.root(), projected(rng.random(n), least, most)
        for i in range(n):
            masks = all_masks(n)
            sizes = masks.sum(axis=1)
            masks = masks[~masks[:, i] & (sizes >= least) & (sizes <= most)]
            best = max(value_of(reward, mask) for mask in masks)
            assert upper_without(root, i, x) >= best - split.rounding


def test_the_element_that_is_missed_most_is_branched_on():
    # three copies of one variable, one of another: without the latter the bound falls, without a copy hardly
    C = np.full((4, 4), 0.0)
    C[:3, :3] = 0.99
    C += np.diag([0.01, 0.01, 0.01, 1.0])
    reward = Reward(0.0, np.zeros(4), np.ones(1), (C,), 2, 2)
    split = DiagonalSplit.of(reward, first_thetas(reward)[0])
    root, losses, x = split.root(), Losses.none(4), np.array([0.6, 0.55, 0.45, 0.4])
    upper = tangent(root, x)[0] + 1.0
    assert branching_place(root, np.arange(4), x, upper, losses) == 3
    np.testing.assert_array_equal(losses.count, 1)
    assert branching_place(root, np.arange(4), np.array([1.0, 0.995, 0.9, 0.1]), upper, losses) == 2  # one candidate


def test_projection_and_best_sets():
    rng = np.random.default_rng(0)
    for _ in range(200):
        m = int(rng.integers(1, 7))
        least, most = sorted(rng.integers(0, m + 1, 2))
        y = rng.normal(size=m) * 2
        total = rng.uniform(0, m)
        assert on_total(y, total).sum() == pytest.approx(total)
        x = projected(y, least, most)
        masks = all_masks(m)
        masks = masks[(masks.sum(axis=1) >= least) & (masks.sum(axis=1) <= most)]
        assert ((masks - x) @ (y - x) <= 1e-9).all()  # the projection's own inequality
        found = best_set(y, least, most)
        values = masks @ y
        assert found.value == pytest.approx(values.max())
        for j in range(m):
            other = values[masks[:, j] != found.inside[j]]
            assert found.value - found.loss[j] >= other.max(initial=-np.inf) - 1e-12


# -- starts ---------------------------------------------------------------------------------------------------------


def test_moves_are_differences_of_values():
    reward = free_reward("kernel", 7, 2, 1, 6)
    mask = np.array([1, 0, 1, 1, 0, 0, 1], dtype=bool)
    moves, before = DeterminantMoves(reward, mask), value_of(reward, mask)
    for i, j in itertools.product(range(4), range(3)):
        other = mask.copy()
        other[moves.inside[i]], other[moves.outside[j]] = False, True
        assert moves.swap[i, j] == pytest.approx(value_of(reward, other) - before)
    other = mask.copy()
    other[moves.outside[1]] = True
    assert moves.add[1] == pytest.approx(value_of(reward, other) - before)
    other = mask.copy()
    other[moves.inside[2]] = False
    assert moves.drop[2] == pytest.approx(value_of(reward, other) - before)


def test_starts_keep_to_the_sizes():
    for least, most in ((0, 0), (3, 3), (2, 5), (8, 8), (0, 8)):
        masks = good_sets(free_reward("plain", 8, 1, least, most), np.random.default_rng(0), lambda: False)
        assert ((masks.sum(axis=1) >= least) & (masks.sum(axis=1) <= most)).all()
        hasty = good_sets(free_reward("plain", 8, 1, least, most), np.random.default_rng(0), lambda: True)
        assert ((hasty.sum(axis=1) >= least) & (hasty.sum(axis=1) <= most)).all()


# -- the search -----------------------------------------------------------------------------------------------------


def check(objective, constraints=(), **options):
    expected = ds.minimize(objective, ds.BruteForce(), constraints=constraints)
    result = ds.minimize(objective, ds.DeterminantBranchAndBound(**options), constraints=constraints, seed=0)
    assert result.status == expected.status
    if expected.status == "optimal":
        scale = 1e-7 * (1 + abs(expected.value))
        assert result.certified
        assert result.value == pytest.approx(expected.value, abs=scale)
        assert expected.value - scale <= result.lower_bound <= expected.value + 1e-9 * (1 + abs(expected.value))
    return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_agrees_with_enumeration(kind, n):
    rng = np.random.default_rng(n)
    costs = ds.Modular(rng.normal(size=n), 0.5)
    g = ds.GaussianEntropy(covariance(kind, n, n))
    for s in range(n + 1):
        check(costs - 2 * g, [ds.Cardinality(s, s)])
    check(costs - g)
    check(costs - 0.3 * g, [ds.Cardinality(n // 3, n // 2)])


@pytest.mark.parametrize("seed", range(4))
def test_log_det_with_a_unit_matrix_and_budgets(seed):
    n, rng = 11, np.random.default_rng(seed)
    B = rng.normal(size=(4, n))
    objective = ds.Modular(rng.uniform(0, 2, n)) - ds.LogDet(B.T @ B)
    for constraints in ([], [ds.Cardinality(max=3)], [ds.Cardinality(4, 6)], [ds.Cardinality(min=9)]):
        check(objective, constraints)
        check(objective, constraints, wide=1e9)
        check(objective, [*constraints, ds.Include([2]), ds.Exclude([0, 5])])
    check(objective, [ds.Cardinality(2, 2), ds.Include([0, 1, 2])])


@pytest.mark.parametrize("seed", range(3))
def test_mutual_information_of_gaussians(seed):
    n = 9
    g = ds.GaussianEntropy(covariance("kernel", n, seed))
    objective = ds.Modular(np.full(n, 0.4)) - g - g.complement()
    check(objective)
    check(objective, [ds.Cardinality(4, 4)])


def test_views_of_log_determinants_keep_their_form():
    rng = np.random.default_rng(0)
    g = ds.LogDet(covariance("plain", 7, 0))
    views = [
        g.restrict([1, 3], [0, 1, 3, 5, 6]),
        g.complement(),
        g.relabel(rng.permutation(7)),
        g.declare(integral=False),
    ]
    for view in views:
        form = view.determinant_form()
        masks = all_masks(view.n)
        logs = [np.linalg.slogdet(form.M[np.ix_(mask, mask)])[1] for mask in masks]
        np.testing.assert_allclose(
            form.constant + masks @ form.weights + form.scale * np.array(logs), view.values(masks), atol=1e-9
        )


def test_it_is_the_default_and_refuses_what_it_cannot_do():
    large = ds.Modular(np.full(22, 0.3)) - ds.GaussianEntropy(covariance("plain", 22, 0))
    assert ds.minimize(large, constraints=[ds.Cardinality(11, 11)]).solver == "DeterminantBranchAndBound"
    g = ds.GaussianEntropy(covariance("plain", 6, 0))
    objective = ds.Modular(np.full(6, 0.3)) - g
    assert reward_of(ds.Problem(objective + g + g)) is None
    for bad, constraints in ((objective + 2 * g, []), (objective, [ds.Knapsack(np.ones(6), 2.5)])):
        with pytest.raises(ValueError, match="DeterminantBranchAndBound does not work with this problem"):
            ds.minimize(bad, ds.DeterminantBranchAndBound(), constraints=constraints)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("least", "most"), [(3, 3), (0, 4), (2, 6), (8, 8), (0, 8), (1, 1), (0, 0)])
def test_a_search_by_variances_finds_the_best_set(kind, least, most):
    n = 8
    for seed in range(3):
        one = free_reward(kind, n, seed, least, most)
        C = (one.C[0], covariance("plain", n, seed + 7))
        reward = Reward(one.constant, one.weights - 2.0 * (seed == 1), np.array([1.5, 0.4]), C, least, most)
        split = DiagonalSplit.of(reward, first_thetas(reward)[0])
        masks = all_masks(n)
        masks = masks[(masks.sum(axis=1) >= least) & (masks.sum(axis=1) <= most)]
        values = np.array([value_of(reward, mask) for mask in masks])
        near = 1e-6 * (1.0 + np.abs(values).max())
        for target in (-np.inf, np.median(values) - near, values.max() - near, values.max() + near):
            found = searched_by_variances(split.root(), VarianceGoal(target, 0.0), 10**6, lambda: False)
            reached = [value_of(reward, mask) for mask in found]
            assert ((found.sum(axis=1) >= least) & (found.sum(axis=1) <= most)).all()
            if target < values.max():
                assert max(reached) == pytest.approx(values.max(), abs=near)
            else:
                assert not len(found)


def test_a_search_by_variances_ends_at_its_limits():
    reward = free_reward("kernel", 20, 0, 10, 10)
    root = DiagonalSplit.of(reward, first_thetas(reward)[0]).root()
    goal = VarianceGoal(-np.inf, 0.0)
    assert searched_by_variances(root, goal, 100, lambda: False) is None
    assert searched_by_variances(root, goal, 10**9, lambda: True) is None
    crowd = Reward(0.0, np.zeros(14), np.array([1.0]), (np.eye(14),), 4, 4)
    tied = DiagonalSplit.of(crowd, np.full((1, 14), -0.1)).root()
    assert searched_by_variances(tied, VarianceGoal(-1.0, -1e-3), 10**9, lambda: False) is None  # more ties than room
    assert len(searched_by_variances(tied, VarianceGoal(-1.0, 1e-9), 10**9, lambda: False)) == 1


def test_limits_leave_a_bound_and_a_run_resumes(tmp_path):
    n = 24
    C = covariance("kernel", n, 5)
    objective = ds.Modular(np.zeros(n)) - ds.GaussianEntropy(C)
    whole = ds.minimize(objective, ds.DeterminantBranchAndBound(), constraints=[ds.Cardinality(9, 9)], seed=0)
    assert whole.certified
    path = tmp_path / "run.npz"
    options = {"constraints": [ds.Cardinality(9, 9)], "checkpoint": path, "seed": 0}
    for limit in (1, 3, 5):
        part = ds.minimize(objective, ds.DeterminantBranchAndBound(), node_limit=limit, **options)
        assert part.lower_bound <= whole.value + 1e-9
        assert np.isfinite(part.lower_bound)
    result = ds.minimize(objective, ds.DeterminantBranchAndBound(), **options)
    assert result.certified
    assert result.value == pytest.approx(whole.value)


@pytest.mark.parametrize(("n", "s", "best"), [(63, 30, -63.343143), (124, 20, 77.826469)])
def test_better_than_published(n, s, best):
    """Values found by others are -63.357424 and 76.999243."""
    path = data_folder() / "mesp" / f"data{n}.npz"
    if not path.exists():
        pytest.skip(f"no {path.name}: set DSPROG_DATA")
    objective = ds.Modular(np.full(n, np.log(2 * np.pi * np.e))) - 2 * ds.GaussianEntropy(np.load(path)["C"])
    result = ds.minimize(objective, constraints=[ds.Cardinality(s, s)], seed=0)
    assert result.certified
    assert -result.value == pytest.approx(best, abs=1e-6)


def test_a_resumed_run_remembers_what_rounding_gave_away(tmp_path):
    """A root whose diagonal was closed has no tree, but its rounding counts in the proof."""
    cov = [[2.57, -2.8, 2.576], [-2.8, 3.0725, -2.8175], [2.576, -2.8175, 2.6021]]
    objective = ds.Modular(np.zeros(3)) - ds.GaussianEntropy(cov)
    file = tmp_path / "run.npz"
    for limit in (2, 0):
        ds.minimize(objective, ds.DeterminantBranchAndBound(), checkpoint=file, node_limit=limit)
    result = ds.minimize(objective, ds.DeterminantBranchAndBound(), checkpoint=file)
    assert result.status == ds.minimize(objective, ds.DeterminantBranchAndBound()).status == "optimal"


@pytest.mark.parametrize("n", [1, 3])
def test_more_elements_than_there_are(n):
    objective = ds.Modular(np.zeros(n)) - ds.GaussianEntropy(covariance("plain", n, 0))
    found = ds.minimize(objective, ds.DeterminantBranchAndBound(), constraints=[ds.Cardinality(min=n + 7)])
    assert found.status == "infeasible"


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize("n", [4, 10])
def test_sizes_that_exclude_each_other(n, reduce):
    objective = ds.Modular(np.ones(n)) - ds.GaussianEntropy(covariance("plain", n, 0))
    rows = [ds.Cardinality(max=n - 3), ds.Cardinality(min=n - 1)]
    for solver in (ds.DeterminantBranchAndBound(), None):
        assert ds.minimize(objective, solver, constraints=rows, reduce=reduce).status == "infeasible"
