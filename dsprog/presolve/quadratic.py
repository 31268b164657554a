"""What can be taken off a quadratic function before a search, and the way back.

- Roof duality labels variables that some optimum has so.
- A function with E(x) = E(1 - x) has an optimum with any one variable 0.
- A variable with at most two neighbours is eliminated: min over x_i of u x_i + a x_i x_j + b x_i x_k depends on two
  variables, and every function of two 0/1 variables is quadratic. Trees and series-parallel parts vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.core.problem import Problem
from dsprog.core.quadratic_form import QuadraticForm, Steps
from dsprog.core.validation import Ints, Masks
from dsprog.functions.graph import Pairwise, upper_triangle
from dsprog.presolve.roof import roof_duality
from dsprog.presolve.step import Reduced, Step, Wishes

ROUNDING = 1e-12  # of the scale: a field that is smaller is none


def form_of(problem: Problem) -> QuadraticForm | None:
    """The quadratic form of the objective, to be asked for by ``problem.derived(form_of)``."""
    return QuadraticForm.of(problem.objective)


def free_form_of(problem: Problem) -> QuadraticForm | None:
    """The quadratic form of a problem without constraints."""
    return None if problem.constraints else problem.derived(form_of)


def problem_of(form: QuadraticForm) -> Problem:
    """A form as a problem."""
    return Problem(Difference(Pairwise(upper_triangle(form.pairs), form.u, form.constant)))


class FormStep(Step):
    """A step for quadratic functions without constraints that are not submodular: one maximum flow solves those."""

    def accepts(self, problem: Problem, wishes: Wishes) -> bool:
        """Whether there is such a form."""
        form = free_form_of(problem)
        return form is not None and form.n > 0 and not form.submodular


@dataclass(frozen=True)
class PartlyLabelled(Reduced):
    """Some variables have labels 0 or 1, the others (-1) are left."""

    whole: Problem
    form: QuadraticForm
    labels: Ints
    words: str
    lower: float = -np.inf

    @cached_property
    def parts(self) -> tuple[Problem, ...]:  # type: ignore[override]
        """The form with the labels put in."""
        return (self.whole if (self.labels < 0).all() else problem_of(self.form.fixed(self.labels)[0]),)

    def lift(self, masks: Sequence[Masks]) -> Masks:
        """With the labels."""
        full = self.labels == 1
        full[self.labels < 0] = masks[0]
        return full

    def project(self, mask: Masks) -> list[Masks]:
        """Without them."""
        return [mask[self.labels < 0]]


class RoofDuality(FormStep):
    """Labels that some optimum has, and a bound: :mod:`dsprog.presolve.roof`."""

    def seconds(self, problem: Problem) -> float:
        """Seen on random graphs: a microsecond or two for each entry."""
        form = problem.derived(form_of)
        return 0.0 if form is None else 2e-6 * form.pairs.nnz

    def apply(self, problem: Problem) -> PartlyLabelled | None:
        """One maximum flow in the doubled graph."""
        form = problem.derived(form_of)
        if form is None:
            return None
        roof = roof_duality(form)
        words = f"{int((roof.labels >= 0).sum())} labelled by roof duality"
        return PartlyLabelled(problem, form, roof.labels, words, Steps.of(form).rounded(roof.lower))


class OneOfTwo(FormStep):
    """Of S and V∖S, which have the same value, the one without the element of most neighbours."""

    def apply(self, problem: Problem) -> PartlyLabelled | None:
        """E(x) = constant + Σ w_i x_i - ½ Σ P_ij [x_i ≠ x_j] is symmetric if its field w vanishes."""
        form = problem.derived(form_of)
        if form is None or np.abs(form.field).max() > ROUNDING * form.scale:
            return None
        labels = np.full(form.n, -1)
        labels[int(np.argmax(np.diff(form.pairs.indptr)))] = 0
        return PartlyLabelled(problem, form, labels, "one of S and V∖S")


class FewNeighbours(FormStep):
    """Variables with at most two neighbours are minimised out."""

    def apply(self, problem: Problem) -> Eliminated | None:
        """Until there is none."""
        form = problem.derived(form_of)
        if form is None or np.diff(form.pairs.indptr).min(initial=3) > 2:
            return None
        rest, kept, eliminations = eliminate(form)
        return Eliminated(form.n, rest, kept, eliminations) if eliminations else None


@dataclass(frozen=True)
class Elimination:
    """Variable ``i`` was minimised out; it is 1 where ``u`` + Σ weights of its neighbours that are 1 is negative."""

    i: int
    u: float
    neighbours: list[int]
    weights: list[float]


@dataclass(frozen=True)
class Eliminated(Reduced):
    """The form of the variables that were kept, and how the others follow from them."""

    n: int
    rest: QuadraticForm
    kept: Ints
    eliminations: list[Elimination]

    @property
    def words(self) -> str:  # type: ignore[override]
        """How many."""
        return f"{len(self.eliminations)} with few neighbours"

    @cached_property
    def parts(self) -> tuple[Problem, ...]:  # type: ignore[override]
        """The rest."""
        return (problem_of(self.rest),)

    def lift(self, masks: Sequence[Masks]) -> Masks:
        """Put the eliminated ones back, the last first: each is 1 where that pays."""
        full = np.zeros(self.n, dtype=bool)
        full[self.kept] = masks[0]
        for step in reversed(self.eliminations):
            field = step.u + sum(w for j, w in zip(step.neighbours, step.weights) if full[j])
            full[step.i] = field < 0
        return full

    def project(self, mask: Masks) -> list[Masks]:
        """Those that were kept."""
        return [mask[self.kept]]


def eliminate(form: QuadraticForm) -> tuple[QuadraticForm, Ints, list[Elimination]]:
    """Minimise out variables with at most two neighbours until there is none."""
    import scipy.sparse as sparse

    u, constant = form.u.tolist(), form.constant
    indptr, indices, data = form.pairs.indptr.tolist(), form.pairs.indices.tolist(), form.pairs.data.tolist()
    near = [dict(zip(indices[a:z], data[a:z])) for a, z in pairwise(indptr)]
    steps: list[Elimination] = []
    alive = [True] * form.n
    waiting = [i for i in range(form.n) if len(near[i]) <= 2]
    while waiting:
        i = waiting.pop()
        if not alive[i] or len(near[i]) > 2:
            continue
        alive[i] = False
        neighbours, weights = list(near[i]), list(near[i].values())
        steps.append(Elimination(i, u[i], neighbours, weights))
        base = min(0.0, u[i])
        constant += base
        gains = [min(0.0, u[i] + w) - base for w in weights]
        for j, gain in zip(neighbours, gains):
            u[j] += gain
            del near[j][i]
        if len(neighbours) == 2:
            j, k = neighbours
            pair = min(0.0, u[i] + sum(weights)) - base - sum(gains) + near[j].get(k, 0.0)
            if pair != 0.0:
                near[j][k] = near[k][j] = pair
            elif k in near[j]:
                del near[j][k], near[k][j]
        waiting += [j for j in neighbours if len(near[j]) <= 2]
    kept = np.flatnonzero(alive)
    entries = [(i, j, w) for i in kept.tolist() for j, w in near[i].items()]
    rows, columns, values = zip(*entries) if entries else ((), (), ())
    pairs = sparse.csr_array((np.array(values, dtype=float), (rows, columns)), shape=(form.n, form.n))
    return QuadraticForm.sparse(np.array(u)[kept], pairs[kept][:, kept], constant), kept, steps
