"""Every kernel is written in the language of kernels, and does compiled what it does interpreted."""

import ast
import copy
from pathlib import Path

import numpy as np
import pytest

import dsprog as ds
from dsprog import generators
from dsprog.applications import SubmodularFeatureSelector, TANClassifier
from dsprog.compiler.program import LANGUAGE
from dsprog.compiler.reading import MEANINGS
from dsprog.core.kernel import Kernel
from tests.helpers.interpreted import interpreted

ROOT = Path(ds.__file__).parent
OTHERS = (  # what is no meaning of its own
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Slice, ast.keyword, ast.arguments, ast.arg,
)  # fmt: skip
MOST_STEPS = 40_000  # entries of arguments: larger calls are not interpreted


def is_kernel(node):
    return isinstance(node, ast.FunctionDef) and any(
        getattr(decorator, "id", "") in ("kernel", "part") for decorator in node.decorator_list
    )


KERNELS = {
    f"{path.relative_to(ROOT)}:{node.name}": node
    for path in sorted(ROOT.rglob("*.py"))
    for node in ast.walk(ast.parse(path.read_text()))
    if is_kernel(node)
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_contain_what_the_compiler_knows(name):
    assert LANGUAGE
    known = (*MEANINGS, *OTHERS)
    nodes = [node for statement in KERNELS[name].body for node in ast.walk(statement)]
    assert {type(node).__name__ for node in nodes if not isinstance(node, known)} == set()


def one_size(family, n, k, **options):
    return ds.minimize(generators.FAMILIES[family](n, 1), constraints=[ds.Cardinality(exactly=k)], **options)


def budgeted(objective, *rows):
    return ds.maximize(objective, ds.BudgetBranchAndBound(), constraints=[*rows])


def regression():
    X, y, _, _ = generators.sparse_linear_model(np.random.default_rng(0), 40, 12, 4)
    SubmodularFeatureSelector(lam=0.03).fit(X, y)


def many_features():
    X, y, _, _ = generators.sparse_linear_model(np.random.default_rng(0), 20, 30, 4)
    SubmodularFeatureSelector(n_features_to_select=3).fit(X, y)
    SubmodularFeatureSelector(lam=0.02, ridge=0.01, task="logistic").fit(X[:, :12], y > 0)


def classifier():
    TANClassifier().fit(*generators.discrete_data(np.random.default_rng(0), 60, 6))


def torus():
    from dsprog.applications import max_cut

    rng, size = np.random.default_rng(0), 5
    A = np.zeros((size, size, size, size))
    i, j = np.indices((size, size))
    A[i, j, (i + 1) % size, j] = rng.choice((-1.0, 1.0), (size, size))
    A[i, j, i, (j + 1) % size] = rng.choice((-1.0, 1.0), (size, size))
    A = A.reshape(size**2, size**2)
    ds.minimize(max_cut(A + A.T), ds.QuadraticBranchAndBound(), node_limit=20)


def labels():
    from dsprog.applications import minimize_labels
    from dsprog.applications.vision import grid_pairs

    rng = np.random.default_rng(0)
    minimize_labels(rng.random((20, 3)), grid_pairs((4, 5), 0.3), 1.0 - np.eye(3))


def stations():
    C = generators.station_covariance(np.random.default_rng(0), 14)
    ds.maximize(ds.GaussianEntropy(C), constraints=[ds.Cardinality(exactly=5)])


def primitives(name):
    """Values, marginals, chains and tangents of both sides of a family."""
    rng, n = np.random.default_rng(0), 9
    objective = generators.FAMILIES[name](n, 0)
    masks, orders = rng.random((5, n)) < 0.5, np.array([rng.permutation(n) for _ in range(5)])
    for function in (objective.f, objective.g):
        function.values(masks)
        function.marginals(masks)
        function.chains(orders)
        if function.has_concave_extension:
            function.tangents(rng.random((5, n)))


RUNS = {
    "budget, concave": lambda: one_size("concave", 16, 5, solver=ds.BudgetBranchAndBound()),
    "budget, coverage": lambda: one_size("coverage", 18, 5, solver=ds.BudgetBranchAndBound()),
    "budget, list": lambda: ds.enumerate_best(
        generators.concave_difference(14, 2), 4, solver=ds.BudgetBranchAndBound(), constraints=[ds.Cardinality(max=4)]
    ),
    "knapsack": lambda: ds.minimize(
        generators.concave_difference(14, 3),
        ds.BudgetBranchAndBound(),
        constraints=[ds.Knapsack(np.random.default_rng(2).integers(1, 9, 14), 12)],
    ),
    "blocks": lambda: budgeted(generators.facility_rewards(12, 1), ds.Partition(np.arange(12) % 4, [1, 1, 2, 1])),
    "influence": lambda: budgeted(generators.influence_rewards(20, 1), ds.Cardinality(max=4)),
    "maxima and curves": lambda: budgeted(
        generators.facility_rewards(10, 1) + 3.0 * ds.CardinalityConcave(10, "sqrt"), ds.Cardinality(max=4)
    ),
    "influence against costs": lambda: budgeted(
        generators.influence_rewards(12, 1) - 0.5 * generators.coverage_rewards(12, 1), ds.Cardinality(exactly=4)
    ),
    "knapsack of influence": lambda: budgeted(
        generators.influence_rewards(14, 1), ds.Knapsack(np.arange(14) % 4 + 1.0, 7.0)
    ),
    "concave": lambda: ds.minimize(generators.concave_difference(14, 1), ds.BranchAndBound()),
    "rows": lambda: ds.minimize(
        generators.concave_difference(14, 1),
        ds.BranchAndBound(),
        constraints=[ds.Knapsack(np.arange(14) + 1.0, 40.0), ds.Cardinality(min=2)],
    ),
    "quadratic": lambda: ds.minimize(generators.pairwise_energy(26, 1), ds.QuadraticBranchAndBound(trial=0)),
    "quadratic, exactly": lambda: one_size("pairwise", 14, 5),
    "sparse max-cut": torus,
    "regression": regression,
    "many features": many_features,
    "classifier": classifier,
    "labels": labels,
    "stations": stations,
    "compact": lambda: ds.minimize(generators.FAMILIES["coverage"](10, 0), ds.CompactModel()),
    "prismatic": lambda: ds.minimize(generators.concave_difference(6, 1), ds.Prismatic()),
    "submodular": lambda: ds.minimize_submodular(generators.FAMILIES["concave"](10, 0).f + -1.0),
    **{
        f"primitives of {name}": lambda name=name: primitives(name)
        for name in generators.FAMILIES
        if name != "callable"
    },
}
WINDING = {"budget_kernel", "descents", "variance_search_kernel", "descend_kernel"}  # last digits decide the next step


def entries(args):
    """How many numbers there are among the arguments."""
    return sum(entries(one) if isinstance(one, tuple) else np.size(one) for one in args)


@pytest.mark.parametrize("name", RUNS)
def test_compiled_kernels_do_what_interpreted_ones_do(name, monkeypatch):
    """To the last digits: sums are made in another order."""
    met, compiled = {}, Kernel.__call__

    def both(self, *args):
        seen = met.setdefault(self.__name__, 0)
        if self.__name__ in WINDING or entries(args) > MOST_STEPS or seen > 20:
            return compiled(self, *args)
        met[self.__name__] += 1
        again = copy.deepcopy(args)
        with np.errstate(all="ignore"):
            expected = interpreted(self)(*again)
        found = compiled(self, *args)
        same(found, expected)
        for ours, theirs in zip(args, again):
            lower = self.__name__ == "newton_kernel" and np.ndim(ours) == 2  # the other triangle is not filled in
            same(np.tril(ours) if lower else ours, np.tril(theirs) if lower else theirs)
        return found

    monkeypatch.setattr(Kernel, "__call__", both)
    RUNS[name]()
    assert met


def same(found, expected):
    if isinstance(found, tuple):
        for ours, theirs in zip(found, expected, strict=True):
            same(ours, theirs)
    elif isinstance(found, np.ndarray):
        ends = np.isfinite(found) | np.isinf(expected)
        assert np.allclose(found[ends], expected[ends], rtol=1e-7, atol=1e-7, equal_nan=True)
    elif found is not None:
        assert np.isclose(found, expected, rtol=1e-7, atol=1e-7, equal_nan=True)
    else:
        assert expected is None
