"""Steps on quadratic forms: roof duality, probing, few neighbours, and all of them in turn."""

import numpy as np
import pytest

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.functions.table import all_masks
from dsprog.presolve.chain import presolve
from dsprog.presolve.quadratic import problem_of
from dsprog.presolve.roof import doubled, probe, roof_duality
from dsprog.presolve.step import Wishes
from tests.helpers.quadratic import agreeing, minimum, random_form


@pytest.mark.parametrize("seed", range(80))
def test_roof_duality(seed):
    form = random_form(seed)
    masks, double = all_masks(form.n), doubled(form)
    assert double.submodular
    np.testing.assert_allclose(double.values(np.hstack([masks, ~masks])), form.values(masks), atol=1e-9)
    roof, best = roof_duality(form), minimum(form)
    assert roof.lower <= best + 1e-12 * form.scale
    assert form.values(agreeing(roof.labels, form.n)).min() == pytest.approx(best)
    if form.submodular:
        assert roof.lower == pytest.approx(best)
    _, labels = probe(form, best + 1e-6)
    assert form.values(agreeing(labels, form.n)).min() == pytest.approx(best)


@pytest.mark.parametrize("seed", range(30))
def test_roof_duality_agrees_with_thinqpbo(seed):
    thinqpbo = pytest.importorskip("thinqpbo")
    form = random_form(4 * seed)
    graph = thinqpbo.QPBODouble()
    graph.add_node(form.n)
    for i in range(form.n):
        graph.add_unary_term(i, 0.0, form.u[i])
    upper = np.triu(form.pairs.toarray())
    for i, j in zip(*np.nonzero(upper)):
        graph.add_pairwise_term(int(i), int(j), 0.0, 0.0, 0.0, upper[i, j])
    graph.solve()
    theirs = np.array([graph.get_label(i) for i in range(form.n)])
    assert graph.compute_twice_lower_bound() / 2 + form.constant == pytest.approx(roof_duality(form).lower)
    ours = roof_duality(form).labels
    assert (ours[ours >= 0] == theirs[ours >= 0]).all()


@pytest.mark.parametrize("seed", range(80))
def test_presolve_keeps_the_minimum(seed):
    form = random_form(seed)
    smaller = presolve(problem_of(form), Wishes())
    masks, total = [], smaller.offset
    for part in smaller.parts:
        values = part.objective.values(all_masks(part.n))
        masks.append(all_masks(part.n)[values.argmin()])
        total += values.min()
    assert total == pytest.approx(minimum(form))
    assert form.values(smaller.lift(masks)[None])[0] == pytest.approx(minimum(form))


def test_trees_and_cycles_need_no_search():
    rng = np.random.default_rng(0)
    n = 200
    P = np.zeros((n, n))
    for j in range(1, n):
        P[j, rng.integers(0, j)] = rng.normal()
    P[0, n - 1] += 1.0
    assert presolve(problem_of(QuadraticForm.dense(rng.normal(size=n), P + P.T)), Wishes()).parts == ()
