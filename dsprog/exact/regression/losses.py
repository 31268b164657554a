"""The losses that the perspective search knows."""

from __future__ import annotations

from dsprog.core.problem import Problem
from dsprog.exact.regression.budget import budget_of
from dsprog.exact.regression.logistic_relaxation import LogisticModel, LogisticRelaxation
from dsprog.exact.regression.relaxation import Loss, Relaxation
from dsprog.exact.regression.wide_loss import WideLoss, WideRelaxation

MOST_OF_MANY = 50  # features that a set may have, or that are worth their price alone, for products with X to pay

AnyLoss = Loss | WideLoss | LogisticModel
AnyRelaxation = Relaxation | WideRelaxation | LogisticRelaxation


def loss_of(problem: Problem) -> AnyLoss | None:
    """The loss of a problem, to be asked for by ``problem.derived(loss_of)``."""
    wide = WideLoss.of(problem.objective)
    if (
        wide is not None
        and wide.is_definite
        and (budget_of(problem) <= MOST_OF_MANY or wide.worthwhile <= MOST_OF_MANY)
    ):
        return wide
    return Loss.of(problem.objective) or LogisticModel.of(problem.objective)
