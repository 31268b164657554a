"""Which problems are modular costs minus log determinants, and their parts as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dsprog.core.constraints import Cardinality
from dsprog.core.determinant_form import DeterminantForm, condition, inverted
from dsprog.core.problem import Problem
from dsprog.core.validation import Floats, Ints, Masks

SINGULAR = 1e11  # condition of a matrix, its diagonal scaled to 1, from which on bounds are rounding and little else


@dataclass(frozen=True)
class Reward:
    """Maximise constant + weights(S) + Σ_k a_k log det (C_k)_S with a_k > 0 over least <= |S| <= most.

    This is the negative of an objective. ``error`` is what inverses among the matrices may be wrong by.
    """

    constant: float
    weights: Floats
    a: Floats
    C: tuple[Floats, ...]
    least: int
    most: int
    error: float = 0.0

    @property
    def n(self) -> int:
        """Elements."""
        return len(self.weights)

    def restricted(self, I: Masks, free: Ints) -> Reward:
        """Given the elements of I, over the free ones."""
        forms = [DeterminantForm(C, a, np.zeros(self.n)).restricted(np.flatnonzero(I), free) for C, a in self.pairs]
        constant = self.constant + float(self.weights[I].sum()) + sum(form.constant for form in forms)
        inside, m = int(I.sum()), len(free)
        least, most = max(self.least - inside, 0), min(self.most - inside, m)
        matrices = tuple(form.M for form in forms)
        return Reward(constant, self.weights[free], self.a, matrices, least, most, self.error)

    def sized(self, least: int, most: int) -> Reward:
        """The same over other sizes."""
        return replace(self, least=least, most=most)

    def complemented(self) -> Reward | None:
        """The same in T = V∖S, or None where a matrix is too near to singular.

        A relative error of n ε cond(C) in the inverse moves each log det of |T| rows by |T| times that at most.
        """
        inverses = [inverted(C) for C in self.C]
        if any(inverse is None for inverse in inverses):
            return None
        constant = self.constant + float(self.weights.sum())
        constant += sum(a * float(np.linalg.slogdet(C)[1]) for C, a in self.pairs)
        n, eps = self.n, float(np.finfo(float).eps)
        error = self.error + 4.0 * eps * n * (n - self.least) * sum(a * condition(C) for C, a in self.pairs)
        matrices = tuple(inverse for inverse in inverses if inverse is not None)
        return Reward(constant, -self.weights, self.a, matrices, n - self.most, n - self.least, error)

    @property
    def pairs(self) -> list[tuple[Floats, float]]:
        """Each matrix with its factor."""
        return [(C, float(a)) for C, a in zip(self.C, self.a)]


def reward_of(problem: Problem) -> Reward | None:
    """The negative objective, if it is modular but for log determinants that are subtracted."""
    n = problem.n
    weights, constant, a, C = np.zeros(n), 0.0, [], []
    for factor, h in problem.objective.terms:
        if h.knows.modular:
            values = h.values(np.vstack([np.zeros((1, n)), np.eye(n)]).astype(bool))
            weights, constant = weights - factor * (values[1:] - values[0]), constant - factor * float(values[0])
            continue
        form = h.determinant_form() if factor < 0 else None
        if form is None or form.scale <= 0:
            return None
        weights, constant = weights - factor * form.weights, constant - factor * form.constant
        a.append(-factor * form.scale)
        C.append(form.M)
    if not a:
        return None
    sizes = [kind for kind in problem.constraints if isinstance(kind, Cardinality)]
    least = max((kind.min for kind in sizes), default=0)
    most = min((kind.max for kind in sizes if kind.max is not None), default=n)
    return Reward(constant, weights, np.array(a), tuple(C), least, min(most, n))


def rewards_determinants(problem: Problem) -> bool:
    """Whether the objective is modular but for log determinants that are subtracted."""
    return problem.derived(reward_of) is not None


def rewards_definite_determinants(problem: Problem) -> bool:
    """Whether, besides, no matrix is too near to singular."""
    reward = problem.derived(reward_of)
    return reward is not None and all(condition(C) <= SINGULAR for C in reward.C)
