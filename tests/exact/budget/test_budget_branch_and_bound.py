"""Budgets against brute force: families × constraints × seeds, mixtures, K best, interruptions."""

import itertools

import numpy as np
import pytest

import dsprog as ds
from dsprog.exact.budget.budget_rows import budget_of
from dsprog.exact.budget.budget_search import BudgetSearch
from dsprog.exact.budget.client_kernels import gain_of, lower_gains, put
from dsprog.exact.budget.price_bound import OPEN, PAID, PRICE, TAKEN, pay

SOLVER = ds.BudgetBranchAndBound()


def concave_steps(rng, n):
    return np.append(0.0, np.cumsum(np.sort(rng.normal(size=n))[::-1])) + rng.normal()


FAMILIES = {
    "dense": lambda rng, n: ds.FacilityLocation(rng.random((5, n))),
    "facility": lambda rng, n: ds.FacilityLocation(rng.random((6, n)) * (rng.random((6, n)) < 0.6)),
    "tied": lambda rng, n: ds.FacilityLocation(rng.integers(0, 4, (4, n)).astype(float)),
    "coverage": lambda rng, n: ds.Coverage(rng.random((7, n)) < 0.4, rng.integers(0, 4, 7).astype(float)),
    "sqrt": lambda rng, n: ds.ConcaveOfModular(rng.random((3, n)) * (rng.random((3, n)) < 0.7), rng.random(3)),
    "truncate": lambda rng, n: ds.ConcaveOfModular(rng.integers(0, 3, (3, n)), concave="truncate", parameter=3.0),
    "steps": lambda rng, n: ds.CardinalityConcave(n, concave_steps(rng, n)),
    "rank": lambda rng, n: ds.MatroidRank.partition(rng.integers(0, 3, n), rng.integers(0, 3, 3)),
    "influence": lambda rng, n: ds.ProbabilisticCoverage(rng.choice([0.0, 0.2, 0.7, 1.0], (5, n)), rng.random(5)),
    "sparse coverage": lambda rng, n: ds.Coverage(rng.random((9, n)) < 0.2, rng.integers(0, 4, 9).astype(float)),
    "sparse influence": lambda rng, n: ds.ProbabilisticCoverage(
        rng.choice([0.2, 0.7, 1.0], (9, n)) * (rng.random((9, n)) < 0.15), rng.random(9)
    ),
    "modular": lambda rng, n: ds.Modular(rng.normal(size=n), rng.normal()),
}


def between(rng, n):
    low, high = sorted(rng.integers(0, n + 1, 2))
    return [ds.Cardinality(int(low), int(high))]


CONSTRAINTS = {
    "at most": lambda rng, n: [ds.Cardinality(max=int(rng.integers(0, n + 2)))],
    "exactly": lambda rng, n: [ds.Cardinality(*2 * (int(rng.integers(0, n + 1)),))],
    "between": between,
    "knapsack": lambda rng, n: [ds.Knapsack(rng.integers(0, 6, n), float(rng.integers(0, 15)))],
    "real knapsack": lambda rng, n: [ds.Knapsack(rng.random(n), 0.3 * n), ds.Cardinality(max=int(rng.integers(n + 1)))],
    "partition": lambda rng, n: [ds.Partition(rng.integers(0, 3, n), rng.integers(0, 3, 3))],
    "blocks and size": lambda rng, n: [ds.Partition(rng.integers(0, 3, n), [1, 2, 2]), ds.Cardinality(1, 1 + n // 2)],
    "included": lambda rng, n: [ds.Include([int(rng.integers(n))]), ds.Cardinality(max=int(rng.integers(1, n + 1)))],
    "none": lambda rng, n: [],
}  # fmt: skip


def mixture(rng, n, names):
    """Terms of both signs, shifted, relabelled and restricted now and then."""
    objective = ds.Modular(np.zeros(n), float(rng.choice([0.0, 0.0, 100.0]))) - 0.0
    for name in names:
        objective = objective + float(rng.choice([-1.0, -1.0, -2.5, 0.4])) * FAMILIES[name](rng, n)
    if rng.random() < 0.3:
        objective = objective.relabel(rng.permutation(n))
    if rng.random() < 0.3 and n > 2:
        objective = objective.restrict([int(rng.integers(n))])
    return objective


def check(objective, constraints, **options):
    expected = ds.minimize(objective, ds.BruteForce(), constraints=constraints)
    result = ds.minimize(objective, SOLVER, constraints=constraints, **options)
    assert result.status == expected.status
    if expected.status == "optimal":
        assert result.certified
        assert result.value == pytest.approx(expected.value, abs=1e-9)
        assert expected.value - 1e-9 <= result.value
        assert result.lower_bound <= expected.value + 1e-9


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_one_family_under_one_budget(name, kind):
    for seed in range(6):
        rng = np.random.default_rng([seed, len(name), len(kind)])
        n = int(rng.integers(1, 9))
        check(-FAMILIES[name](rng, n) - 0.0, CONSTRAINTS[kind](rng, n), reduce=bool(seed % 2))


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_mixtures_with_costs(kind):
    for seed in range(40):
        rng = np.random.default_rng([seed, len(kind)])
        n = int(rng.integers(1, 9))
        objective = mixture(rng, n, rng.choice(list(FAMILIES), int(rng.integers(1, 4))))
        check(objective, CONSTRAINTS[kind](rng, objective.n), reduce=bool(seed % 2))


@pytest.mark.parametrize("seed", range(12))
def test_larger_sets_of_a_real_budget(seed):
    rng = np.random.default_rng(seed)
    names = rng.choice(["dense", "facility", "coverage", "influence", "sqrt"], 1 + seed % 2)
    objective = mixture(rng, 14, names)
    check(objective, [ds.Cardinality(max=5)] if seed % 3 else [ds.Cardinality(6, 6)])


@pytest.mark.parametrize("kind", ["at most", "exactly", "knapsack", "partition"])
def test_the_best_sets_are_listed(kind):
    for seed in range(12):
        rng = np.random.default_rng([seed, 7])
        n = int(rng.integers(2, 8))
        objective = mixture(rng, n, ["tied" if seed % 2 else "dense"])
        constraints = CONSTRAINTS[kind](rng, objective.n)
        within = float(rng.random()) if seed % 3 == 0 else None
        expected = ds.enumerate_best(objective, 5, within, solver=ds.BruteForce(), constraints=constraints)
        listed = ds.enumerate_best(objective, 5, within, solver=SOLVER, constraints=constraints)
        assert listed.values == pytest.approx(expected.values, abs=1e-9)
        assert listed.certified == expected.certified
        assert len(set(listed.sets)) == len(listed)


def hard(seed=0):
    """Coverage by tenths, which takes some hundred thousand nodes."""
    rng = np.random.default_rng(seed)
    return -ds.Coverage(rng.random((100, 60)) < 0.12, rng.random(100).round(3)) - 0.0


def test_interrupted_runs_keep_bounds_and_go_on(tmp_path):
    objective, constraints = hard(), [ds.Cardinality(max=8)]
    whole = ds.minimize(objective, SOLVER, constraints=constraints)
    assert whole.certified
    path = tmp_path / "run.npz"
    nodes = 0
    for _ in range(60):
        result = ds.minimize(
            objective, SOLVER, constraints=constraints, checkpoint=path, callback=lambda event: event.nodes > 0
        )
        assert result.lower_bound <= whole.value + 1e-9 <= result.value + 2e-9
        assert result.nodes >= nodes
        nodes = result.nodes
        if result.certified:
            break
    result = ds.minimize(objective, SOLVER, constraints=constraints, checkpoint=path)
    assert result.certified
    assert result.value == pytest.approx(whole.value, abs=1e-9)


def test_node_limits_leave_a_bound():
    result = ds.minimize(hard(1), SOLVER, constraints=[ds.Cardinality(max=9)], node_limit=10)
    assert result.status in ("node_limit", "optimal")
    assert np.isfinite(result.lower_bound)
    assert result.lower_bound <= result.value


def test_a_gap_is_enough():
    result = ds.minimize(hard(2), SOLVER, constraints=[ds.Cardinality(max=6)], gap=0.05)
    assert result.certified
    assert result.gap <= 0.05


@pytest.mark.parametrize(("n", "k"), [(20, 6), (35, 5), (60, 15)])
def test_agrees_with_a_mixed_integer_programme(n, k):
    rng = np.random.default_rng(n)
    g = ds.FacilityLocation(rng.random((n // 2, n))) + ds.Coverage(rng.random((n, n)) < 0.1, rng.random(n))
    constraints = [ds.Cardinality(max=k)]
    ours, other = (ds.minimize(-g, solver, constraints=constraints) for solver in (SOLVER, ds.CompactModel()))
    assert ours.certified
    assert ours.value == pytest.approx(other.value, abs=1e-6)


def test_what_is_no_budget_is_refused():
    g = ds.FacilityLocation(np.eye(4))
    with pytest.raises(ValueError, match="constraints that are a budget"):
        ds.minimize(-g, SOLVER, constraints=[ds.LinearConstraint([1.0, -1.0, 2.0, 0.0], hi=0.5)])
    with pytest.raises(ValueError, match="gains are compiled"):
        ds.minimize(ds.Entropy(np.eye(4, dtype=int)) - g, SOLVER, constraints=[ds.Knapsack([1.0, 2.0, 3.0, 4.0], 5.0)])


def test_rows_become_budgets():
    problem = ds.Problem(
        ds.Modular(np.zeros(4)) - 0.0, (ds.LinearConstraint(2 * np.ones(4), lo=2, hi=7), ds.Exclude([3]))
    )
    budget = budget_of(problem)
    assert (budget.least, budget.most, budget.free.tolist()) == (1, 3, [True, True, True, False])
    assert budget_of(ds.Problem(problem.objective, (ds.Cardinality(2, 2), ds.Include([0, 1, 2])))).least == 1


def test_nothing_fits():
    g = ds.FacilityLocation(np.eye(3))
    result = ds.minimize(-g, SOLVER, constraints=[ds.Cardinality(2), ds.Knapsack([5.0, 5.0, 5.0], 7.0)])
    assert result.status == "infeasible"
    assert ds.minimize(-g, SOLVER, constraints=[ds.Cardinality(max=0)]).S == ()


def all_sets(n):
    return [np.array(S, dtype=np.int64) for r in range(n + 1) for S in itertools.combinations(range(n), r)]


@pytest.mark.parametrize("seed", range(10))
def test_thresholds_bound_every_set(seed):
    """max(b, max_{j∈S} s_j) <= τ + Σ_{j∈S} max(0, s_j - τ) for every τ >= b."""
    rng = np.random.default_rng(seed)
    s, b = rng.random((4, 6)), rng.random(4) * 0.5
    tau = b + rng.random(4) * rng.choice([0.0, 1.0], 4)
    slopes = np.maximum(0.0, s - tau[:, None]).sum(axis=0)
    for S in all_sets(6):
        assert np.maximum(b, s[:, S].max(axis=1, initial=0.0)).sum() <= tau.sum() + slopes[S].sum() + 1e-12


CURVES = {
    "sqrt": (np.sqrt, lambda t: 0.5 / np.sqrt(t)),
    "log1p": (np.log1p, lambda t: 1.0 / (1.0 + t)),
    "truncate": (lambda t: np.minimum(t, 1.5), lambda t: np.where(t < 1.5, 1.0, 0.0)),
    "reached": (lambda t: 1.0 - np.exp(-t), lambda t: np.exp(-t)),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("seed", range(6))
def test_lifted_tangents_bound_every_set(name, seed):
    """ψ(w(S)) <= κ + Σ c_j with c_j = ψ'(t) w_j if w_j <= t, else ψ(w_j) - κ."""
    rng, (phi, slope) = np.random.default_rng(seed), CURVES[name]
    w, a, t = rng.exponential(size=7) * rng.choice([0.1, 1.0, 5.0], 7), rng.random() * (seed % 2), rng.exponential()
    kappa = phi(a + t) - phi(a) - t * slope(a + t)
    c = np.where(w <= t, slope(a + t) * w, phi(a + w) - phi(a) - kappa)
    for S in all_sets(7):
        assert phi(a + w[S].sum()) - phi(a) <= kappa + c[S].sum() + 1e-12


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "modular"])
@pytest.mark.parametrize("kind", ["at most", "exactly", "knapsack", "blocks and size"])
def test_bounds_of_a_stopped_search_hold(name, kind):
    """After no more than the root and some steps of its thresholds."""
    for seed in range(3):
        rng = np.random.default_rng([seed, len(name)])
        objective = mixture(rng, 8, [name])
        constraints = CONSTRAINTS[kind](rng, objective.n)
        best = ds.minimize(objective, ds.BruteForce(), constraints=constraints)
        stopped = ds.minimize(objective, SOLVER, constraints=constraints, reduce=False, callback=lambda event: True)
        if best.status == "optimal":
            assert stopped.lower_bound <= best.value + 1e-9 <= stopped.value + 2e-9


@pytest.mark.parametrize("seed", range(20))
def test_gains_kept_up_to_date_are_gains(seed):
    rng = np.random.default_rng(seed)
    n = 14
    benefits = rng.integers(1, 5, (12, n)) * (rng.random((12, n)) < 0.15)
    g = (
        ds.FacilityLocation(benefits.astype(float))
        + FAMILIES["sparse influence"](rng, n)
        + ds.Modular(rng.normal(size=n))
    )
    problem = ds.Problem(ds.Modular(np.zeros(n)) - g, constraints=[ds.Cardinality(max=5)])
    search = BudgetSearch(problem, ds.Run(problem), budget_of(problem))
    nothing = np.zeros(0, dtype=np.int64)
    gains = search.gains(nothing, np.ones(n, dtype=bool))
    assert len(gains.heads) == search.clients.offsets[2] + 1
    chosen, state = [], search.clients.first.copy()
    gain = np.array([gain_of(gains, state, j) for j in range(n)])
    for j in rng.permutation(n)[:6]:
        after = state.copy()
        put(gains, after, j)
        lower_gains(gains, state, after, gain, j)
        chosen, state = [*chosen, int(j)], after
        others = [k for k in range(n) if k not in chosen]
        assert gain[others] == pytest.approx([g([*chosen, k]) - g(chosen) for k in others], abs=1e-12)


def search_of(g, k):
    problem = ds.Problem(ds.Modular(np.zeros(g.n)) - g, constraints=[ds.Cardinality(max=k)])
    return BudgetSearch(problem, ds.Run(problem), budget_of(problem))


@pytest.mark.parametrize("seed", range(20))
def test_prices_bound_every_set_and_their_maxima_are_attained(seed):
    """q (1 - Π_S (1 - p_j)) <= a + b(S), with equality for the set that is taken."""
    rng = np.random.default_rng(seed)
    n, clients = 30, 6
    p = rng.choice([0.02, 0.1, 0.3, 0.7, 1.0], (clients, n)) * (rng.random((clients, n)) < 0.22)
    search = search_of(ds.ProbabilisticCoverage(p, rng.random(clients)), 5)
    gains, desk = search.gains(np.zeros(0, dtype=np.int64), np.ones(n, dtype=bool)), search.desk
    if search.entries == 0:
        pytest.skip("not sparse")
    state = search.clients.first * rng.random(clients)
    heads, members, amounts = gains.heads, gains.members, gains.amounts
    desk.prices[PRICE, : len(members)] = rng.random(len(members)) * rng.choice([0.0, 0.05, 0.3], len(members))
    desk.prices[OPEN, :n] = rng.random(n) < 0.9
    total, expected = pay(gains, state, desk), 0.0
    for i in range(clients):
        entries = np.arange(heads[i], heads[i + 1])
        entries = entries[desk.prices[OPEN, members[entries]] > 0]
        prices, best = desk.prices[PRICE], 0.0
        for S in all_sets(len(entries)):
            best = max(best, state[i] * (1 - np.prod(1 - amounts[entries[S]])) - prices[entries[S]].sum())
        taken = entries[desk.prices[TAKEN, entries] > 0]
        assert state[i] * (1 - np.prod(1 - amounts[taken])) - prices[taken].sum() == pytest.approx(best, abs=1e-12)
        expected += best
    assert total == pytest.approx(expected, abs=1e-12)
    paid = np.bincount(members, desk.prices[PRICE, : len(members)], minlength=n)
    assert desk.prices[PAID, :n] == pytest.approx(paid, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [3, 7, 11])
def test_sparse_influence_agrees_with_enumeration(seed, k):
    rng = np.random.default_rng(seed)
    p = rng.choice([0.05, 0.3, 0.7, 1.0], (20, 15)) * (rng.random((20, 15)) < 0.2)
    objective = ds.Modular(0.1 * rng.random(15)) - ds.ProbabilisticCoverage(p, rng.random(20))
    for constraint in (ds.Cardinality(max=k), ds.Cardinality(k, k), ds.Knapsack(rng.integers(1, 6, 15), 2.0 * k)):
        best = ds.minimize(objective, ds.BruteForce(), constraints=[constraint])
        found = ds.minimize(objective, SOLVER, constraints=[constraint], reduce=False)
        assert found.certified
        assert found.value == pytest.approx(best.value, abs=1e-10)
        assert found.lower_bound <= best.value + 1e-10


@pytest.mark.parametrize("name", ["facility", "sparse coverage", "sparse influence", "sqrt"])
def test_a_walk_of_exchanges_keeps_the_size_and_never_ends_worse(name):
    rng = np.random.default_rng(0)
    n, k = 25, 6
    search = search_of(FAMILIES[name](rng, n), k)
    mask = np.zeros(n, dtype=bool)
    mask[rng.permutation(n)[:k]] = True
    search.run.offer(mask[None], search.problem.objective.values(mask[None]), "start")
    before = search.run.value
    search.walk()
    assert search.run.mask.sum() == k
    assert search.run.value <= before
    assert search.run.value == pytest.approx(float(search.problem.objective.values(search.run.mask[None])[0]))


@pytest.mark.parametrize("seed", [5, 163, 260, 638, 706])
def test_elements_without_weight_fit_a_full_knapsack(seed):
    """Loads that meet the relaxed capacity to the last bit, and candidates of weight 0 after them."""
    full, rng = 1.0 + 1e-9, np.random.default_rng(seed)
    n, clients = int(rng.integers(11, 14)), int(rng.integers(5, 25))
    weights = np.where(rng.random(n) < 0.5, 0.0, rng.choice([full, full / 2, full / 4], n))
    there = rng.random((clients, n)) < rng.choice([0.3, 0.6, 1])
    benefits = rng.uniform(0, 1, (clients, n)) if rng.random() < 0.5 else rng.integers(1, 5, (clients, n))
    benefits = np.where(there, benefits, 0.0).astype(float)
    costs = np.where(weights == 0, rng.uniform(0, 0.4, n) * benefits.max(), 0.0) * clients / 8
    objective, rows = ds.Modular(costs) - ds.FacilityLocation(benefits), [ds.Knapsack(weights, 1.0)]
    expected = ds.minimize(objective, ds.BruteForce(), constraints=rows)
    found = ds.minimize(objective, ds.BudgetBranchAndBound(), constraints=rows, reduce=False)
    assert found.certified
    assert found.value == pytest.approx(expected.value, abs=1e-9)


def test_clients_of_many_equal_probabilities_end_in_time():
    """All sets of one size of a hub are alike: walked one by one they would be too many."""
    n, hub, rng = 100, 40, np.random.default_rng(0)
    p = np.zeros((2 * n, n))
    for row in p:
        row[rng.choice(n, 4, replace=False)] = 0.1
    p[0, :], p[0, :hub] = 0.0, 0.1
    objective = ds.Modular(np.zeros(n)) - ds.ProbabilisticCoverage(p)
    found = ds.minimize(objective, constraints=[ds.Cardinality(max=10)], time_limit=5)
    assert found.seconds < 10
    assert found.lower_bound <= found.value


def test_a_row_that_only_asks_for_more_is_a_budget_from_below():
    row = ds.LinearConstraint([[0.0, 3.0, 3.0, 0.0]], lo=[3.0], hi=[np.inf])
    objective = ds.Coverage([[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
    result = ds.minimize(objective, ds.BranchAndBound(), constraints=[row])
    whole = ds.LinearConstraint([[3.0] * 4], lo=[3.0], hi=[np.inf])
    budget = budget_of(ds.Problem(objective - 0.0, (whole,)))
    assert (budget.least, budget.most) == (1, 4)
    assert ds.minimize(objective, constraints=[row]).value == result.value == 1.0
