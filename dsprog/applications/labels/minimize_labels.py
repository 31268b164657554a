"""The door to energies over labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.applications.labels.label_problem import LabelProblem, as_label_problem
from dsprog.applications.labels.label_result import LabelResult, sentence
from dsprog.applications.labels.label_run import LabelRun
from dsprog.applications.labels.proposals import FAMILIES
from dsprog.core.labels import own_labels
from dsprog.core.validation import Ints, as_seed, as_whole
from dsprog.run.limits import Limits
from dsprog.run.result import relative_gap

TOLERANCE = 1e-12  # of all costs together: by which an energy and a bound that meet may differ


def minimize_labels(
    unary: ArrayLike,
    graph: Any,
    distance: Any,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    initial: ArrayLike | None = None,
    moves: Iterable[str] = ("expansion", "swap"),
    seed: int | None = None,
) -> LabelResult:
    """Minimise Σ unary[i, x_i] + Σ_{i<j} w_ij distance[x_i, x_j] over labels x_i, with a bound, and a proof at the end.

    Dual sweeps raise a lower bound, their labellings and the moves asked for are fused with the best one so far, and
    labels that no better labelling has are removed. What is left is solved exactly, which may take long: a limit, a gap
    or Ctrl-C end the run with a labelling and a bound.

    Parameters
    ----------
    unary : (n, labels) array
        A table's columns name the labels.
    graph : (n, n) matrix or networkx graph
        Symmetric weights w of any sign between sites; its nodes name the sites.
    distance : (labels, labels) array or dict
        Symmetric, not necessarily a metric; or a table for each edge as ``{(i, j): table}``, whose rows are the labels
        of i, whatever table that is. The weights count there, too.
    time_limit : float, optional
        Seconds.
    gap : float
        Relative gap to accept; 0 asks for a proof of optimality.
    initial : (n,) array of int, optional
        A labelling to start from; by default the least ``unary`` of each site.
    moves : names
        Which proposals are fused with the labelling besides those of the bound: "expansion", "swap", "jump" (labels in
        an order), "response", "random".
    seed : int, optional
        For random proposals.

    Returns
    -------
    LabelResult

    Examples
    --------
    >>> import numpy as np
    >>> chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> unary = np.array([[0, 5, 9], [4.0, 3.5, 5.0], [9, 5, 0], [9, 5, 0]])
    >>> found = minimize_labels(unary, chain, 1 - np.eye(3))
    >>> found.labels, found.energy, found.certified
    (array([0, 0, 2, 2]), 5.0, True)
    """
    problem, limits = as_label_problem(unary, graph, distance), Limits(time_limit, gap=gap)
    x = problem.unary.argmin(axis=1) if initial is None else as_labelling(initial, problem)
    run = LabelRun(problem, limits, x, as_moves(moves), as_seed(seed))
    run.go()
    return build_result(run, own_labels(graph), own_labels(unary))


def as_labelling(initial: ArrayLike, problem: LabelProblem) -> Ints:
    """A label for each site."""
    x = as_whole(initial, "initial", shape=(problem.n,))
    if x.size and x.max() >= problem.count:
        raise ValueError(f"initial must have labels from 0 to {problem.count - 1}, got {x.max()}")
    return x


def as_moves(moves: Iterable[str]) -> tuple[str, ...]:
    """Names of families of proposals."""
    names = (moves,) if isinstance(moves, str) else tuple(moves)
    for name in names:
        if name not in FAMILIES:
            raise ValueError(f"moves must be among {', '.join(FAMILIES)}, got {name!r}")
    return names


def build_result(run: LabelRun, site_names: Any, label_names: Any) -> LabelResult:
    """Recompute the energy from the data, and say what is proved."""
    problem, x = run.problem, run.best.x.astype(np.int64)
    energy = problem.energy(x)
    lower = min(run.lower, energy)
    optimal = energy - lower <= TOLERANCE * problem.magnitude
    as_asked = relative_gap(energy, lower) <= run.limits.gap * (1.0 + 1e-12)
    ended = "interrupted" if run.interrupted else "time_limit" if run.over() else "finished"
    status = "optimal" if optimal else "gap" if as_asked else ended
    return LabelResult(
        labels=x,
        energy=energy,
        lower_bound=lower,
        status=status,
        certified=optimal or as_asked,
        message=sentence(status, energy, lower),
        rounds=run.rounds,
        moves=run.moves,
        nodes=run.search.nodes,
        seconds=run.clock.seconds,
        site_names=site_names,
        label_names=label_names,
    )
