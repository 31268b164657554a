"""The losses that the perspective search knows."""

from __future__ import annotations

from dsprog.core.problem import Problem
from dsprog.exact.regression.logistic_relaxation import LogisticModel, LogisticRelaxation
from dsprog.exact.regression.relaxation import Loss, Relaxation

AnyLoss = Loss | LogisticModel
AnyRelaxation = Relaxation | LogisticRelaxation


def loss_of(problem: Problem) -> AnyLoss | None:
    """The loss of a problem, to be asked for by ``problem.derived(loss_of)``."""
    return Loss.of(problem.objective) or LogisticModel.of(problem.objective)
