"""Least squares or logistic loss with a submodular penalty, exactly: branch and bound on the perspective bound.

    min over S of  a · loss(S) + penalty(S),  |S| <= k

A node fixes some features in and some out. Those that are in are eliminated; for the rest a convex relaxation with
rigorous coefficient boxes bounds the node, fixes more features, and says which to branch on. Nothing rests on the loss
being supermodular, which in general it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dsprog.core.problem import Problem
from dsprog.core.validation import as_count
from dsprog.device.machine import check_device
from dsprog.exact.regression.budget import budget_of
from dsprog.exact.regression.few_features import sparse_eigenvalue_of
from dsprog.exact.regression.losses import loss_of
from dsprog.exact.regression.perspective_search import PerspectiveSearch
from dsprog.exact.regression.relaxation import SMALLEST, Loss
from dsprog.run.needs import NO_CONSTRAINTS, Need
from dsprog.run.run import Run
from dsprog.run.solver import SearchSolver


def has_loss(problem: Problem) -> bool:
    """Whether the objective is one least-squares or logistic term and terms known to be submodular."""
    return problem.derived(loss_of) is not None


def has_definite_loss(problem: Problem) -> bool:
    """Whether the columns are far enough from dependent, or all sets of as many as the budget allows proved to be."""
    loss = problem.derived(loss_of)
    return loss is not None and (loss.is_definite or problem.derived(sparse_eigenvalue_of) is not None)


def has_definite_loss_of_all(problem: Problem) -> bool:
    """The same of all sets that are feasible, not only of those that can be best."""
    loss = problem.derived(loss_of)
    return loss is not None and (loss.is_definite or (budget_of(problem) < problem.n and has_definite_loss(problem)))


def has_definite_least_squares(problem: Problem) -> bool:
    """Whether the loss is one of least squares whose columns are far from dependent."""
    loss = problem.derived(loss_of)
    return isinstance(loss, Loss) and loss.is_definite


LINEAR_MODEL = Need("an objective of one LeastSquares term and terms known to be submodular, or LogisticLoss", has_loss)
INDEPENDENT_COLUMNS = Need(
    "columns of X that are far from dependent, or a budget so small or a price so high that few are, proved: "
    f"correlations with no eigenvalue below {SMALLEST:g}",
    has_definite_loss,
    "add a ridge, remove columns, or take fewer",
)


ON_A_DEVICE = Need(
    "on a device, LeastSquares with columns that are far from dependent",
    has_definite_least_squares,
    "leave device out",
)


@dataclass(frozen=True)
class PerspectiveBranchAndBound(SearchSolver):
    """Exact selection of features by least squares, the default of :func:`dsprog.minimize` for it.

    The objective is one :class:`LeastSquares` term and terms known to be submodular, and the columns of X (with the
    ridge, if there is one) must be far from dependent; or one :class:`LogisticLoss` in its place. A budget
    ``Cardinality(max=k)`` enters the bound, and with it it is enough that any k columns are far from dependent, as far
    as a semidefinite programme can prove it (up to 1,000 features): there may be fewer rows than features and no ridge.
    A price of each feature does the same where no better set can afford more than k, but not for lists.
    The Gram matrix of p features takes 8p² bytes, and a node a few times that while it is looked at. With a ridge and
    p > 600 features, more than rows, of which a budget allows at most 50 or at most 50 are worth their price alone, X
    is kept, rows of that matrix that take no more than X, a block of 1,200 features of it, and 48p bytes for each open
    node.

    Parameters
    ----------
    steps : int
        Steps of the diagonal at each node.
    root_steps, root_rounds : int
        At the root: steps of the diagonal in a round, and rounds.
    unit : int
        Nodes in a unit of work.
    device : str
        "cpu", or "cuda" for the nodes of a long search without constraints (up to 133 features): docs/gpu.md.

    Examples
    --------
    >>> import numpy as np, dsprog as ds
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 30))
    >>> y = X[:, 3] - X[:, 7] + 0.1 * rng.normal(size=50)
    >>> result = ds.minimize(ds.LeastSquares(X, y) + 0.01 * ds.NuclearNorm(X), ds.PerspectiveBranchAndBound())
    >>> result.S, result.certified
    ((3, 7), True)
    """

    steps: int = 1
    root_steps: int = 20
    root_rounds: int = 6
    unit: int = 16
    device: str = "cpu"

    lists: ClassVar[bool] = True
    presolved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("root_steps", "root_rounds", "unit"):
            as_count(getattr(self, name), name, least=1)
        as_count(self.steps, "steps")
        check_device(self.device)

    def needs(self) -> tuple[Need, ...]:
        """A loss whose relaxation is convex and can be inverted."""
        return (LINEAR_MODEL, INDEPENDENT_COLUMNS) if self.device == "cpu" else (NO_CONSTRAINTS, ON_A_DEVICE)

    def method(self, problem: Problem, run: Run) -> PerspectiveSearch:
        """The search of one problem."""
        if self.device == "cpu":
            return PerspectiveSearch(problem, run, self)
        from dsprog.exact.regression.device_search import DeviceSearch

        return DeviceSearch(problem, run, self)
