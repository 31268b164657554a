"""Other exact solvers on quadratic functions: HiGHS and SCIP on the linearised model, toulbar2 on the energy itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.functions.graph import Pairwise, upper_triangle
from dsprog.solve.minimize import minimize


@dataclass(frozen=True)
class Answer:
    """Value and bound that a solver claims, and whether it claims a proof."""

    value: float
    lower: float
    proved: bool


def by_dsprog(form: QuadraticForm, time_limit: float) -> Answer:
    """The default of :func:`dsprog.minimize`."""
    result = minimize(Pairwise(upper_triangle(form.pairs), form.u, form.constant), time_limit=time_limit)
    return Answer(result.value, result.lower_bound, result.certified)


def by_highs(form: QuadraticForm, time_limit: float) -> Answer:
    """Variables y for the products: y >= x_i + x_j - 1 for positive pairs, y <= x_i and y <= x_j for negative ones."""
    import scipy.sparse as sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    pairs = upper_triangle(form.pairs).tocoo()
    n, m = form.n, pairs.nnz
    positive, negative = np.flatnonzero(pairs.data > 0), np.flatnonzero(pairs.data < 0)
    tail, head, product = pairs.row, pairs.col, n + np.arange(m)
    blocks: list[tuple[Any, Any, float]] = [(positive, ((tail, 1), (head, 1), (product, -1)), 1.0)]
    blocks += [(negative, ((product, 1), (end, -1)), 0.0) for end in (tail, head)]
    rows, columns, values, upper, count = [], [], [], [], 0
    for which, terms, limit in blocks:
        for column, value in terms:
            rows.append(count + np.arange(len(which)))
            columns.append(column[which])
            values.append(np.full(len(which), float(value)))
        upper.append(np.full(len(which), limit))
        count += len(which)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    A = sparse.coo_array(entries, shape=(count, n + m)).tocsr()
    found = milp(
        np.concatenate([form.u, pairs.data]),
        integrality=np.append(np.ones(n), np.zeros(m)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(A, ub=np.concatenate(upper)),
        options={"time_limit": time_limit, "mip_rel_gap": 0.0},
    )
    bound = -np.inf if found.mip_dual_bound is None else found.mip_dual_bound + form.constant
    return Answer(np.inf if found.x is None else found.fun + form.constant, bound, found.status == 0)


def by_scip(form: QuadraticForm, time_limit: float) -> Answer:
    """The same model."""
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/time", time_limit)
    x = [model.addVar(vtype="B") for _ in range(form.n)]
    pairs = upper_triangle(form.pairs).tocoo()
    terms: list[Any] = [float(u) * v for u, v in zip(form.u, x)]
    for i, j, weight in zip(pairs.row, pairs.col, pairs.data):
        y = model.addVar(lb=0.0, ub=1.0)
        if weight > 0:
            model.addCons(y >= x[i] + x[j] - 1)
        else:
            model.addCons(y <= x[i])
            model.addCons(y <= x[j])
        terms.append(float(weight) * y)
    model.setObjective(quicksum(terms))
    model.optimize()
    value = model.getObjVal() if model.getNSols() else np.inf
    return Answer(value + form.constant, model.getDualbound() + form.constant, model.getStatus() == "optimal")


def by_toulbar2(form: QuadraticForm, time_limit: float) -> Answer:
    """Cost function network, whole costs as they are, others to six decimals."""
    import pytoulbar2

    whole = bool((form.u % 1 == 0).all() and (form.pairs.data % 1 == 0).all())
    network = pytoulbar2.CFN(resolution=0 if whole else 6)
    for i in range(form.n):
        network.AddVariable(f"x{i}", [0, 1])
    for i, u in enumerate(form.u.tolist()):
        network.AddFunction([i], [0, u])
    pairs = upper_triangle(form.pairs).tocoo()
    for i, j, weight in zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist()):
        network.AddFunction([i, j], [0, 0, 0, weight])
    found = network.Solve(timeLimit=max(1, round(time_limit)))
    value = np.inf if not found else float(found[1]) + form.constant
    bound = float(network.GetDDualBound()) + form.constant
    return Answer(value, bound, bool(found) and bound >= value - 1e-5)


REFEREES = {"dsprog": by_dsprog, "HiGHS": by_highs, "SCIP": by_scip, "toulbar2": by_toulbar2}
NEEDS = {"SCIP": "pyscipopt", "toulbar2": "pytoulbar2"}
