"""Minimisation of submodular quadratic functions by maximum flow.

With P_ij <= 0,  P_ij x_i x_j = ½P_ij x_i + ½P_ij x_j + ½|P_ij| (x_i (1 - x_j) + x_j (1 - x_i)),  so that up to a
constant the function is the capacity of a cut: |w_i| from the source where the linear part is negative, to the sink
where it is positive, ½|P_ij| both ways. A flow is a valid bound, and what it leaves of the capacities shows the
smallest and the largest minimiser.
"""

from __future__ import annotations

import numpy as np

from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Masks
from dsprog.submodular.boykov_kolmogorov import max_flow
from dsprog.submodular.minimum import SubmodularMinimum, minimum_between


def minimize_by_max_flow(f: SetFunction, gap: float) -> SubmodularMinimum:
    """Minimise a cut or a submodular quadratic function; see :func:`dsprog.minimize_submodular`."""
    form = QuadraticForm.of(f)
    if form is None:
        raise ValueError(f"max_flow needs a sum of cuts, submodular Pairwise and modular functions, got {f!r}")
    if not form.submodular:
        raise ValueError(f"max_flow needs a submodular function, got a positive pair {form.pairs.data.max():g}")
    lower, minimal, maximal = minimum_of_form(form)
    slack = gap * max(float(np.abs(form.field).sum()), abs(form.constant), 1e-300)
    return minimum_between(f, minimal, maximal, minimal, lower, slack, "max-flow", 1)


def minimum_of_form(form: QuadraticForm) -> tuple[float, Masks, Masks]:
    """Minimum, smallest and largest minimiser of a submodular form.

    E(x) = constant + Σ min(0, w) + the capacity of the cut around x, and no cut is below the flow.
    """
    w, pairs = form.field, form.pairs
    flow, minimal, maximal = max_flow(
        pairs.indptr.astype(np.int64), pairs.indices.astype(np.int64), -0.5 * pairs.data, -w
    )
    return form.constant + float(np.minimum(w, 0.0).sum()) + flow, minimal, maximal
