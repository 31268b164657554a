"""One way to write an objective, before anything else looks at it.

Two terms a h - a h' become one where h knows the difference as a function of its own: a H(X_S | y) - a H(X_S) is
written as -a I(X_S; y), on which every bound loses less. Where a solver needs submodular sides, the term splits itself
again.
"""

from __future__ import annotations

from dsprog.core.algebra import Difference, Sum, Term
from dsprog.core.problem import Problem


def normalised(problem: Problem) -> Problem:
    """The same problem, its terms joined; called once in a run."""
    objective = joined(problem.objective)
    return problem if objective is problem.objective else Problem(objective, problem.constraints, problem.labels)


def joined(f: Difference) -> Difference:
    """The same function with a h - a h' written as a (h - h') where h knows that difference as one function."""
    terms: list[Term] = []
    for term in f.terms:
        found = next(((k, h) for k, other in enumerate(terms) if (h := difference(term, other)) is not None), None)
        if found is None:
            terms.append(term)
        else:
            terms[found[0]] = found[1]
    return f if len(terms) == len(f.terms) else Difference(Sum(f.n, terms))


def difference(term: Term, other: Term) -> Term | None:
    """The sum of two terms with opposite coefficients as one term, where either function knows it."""
    (a, h), (b, g) = term, other
    if abs(a + b) > 1e-14 * abs(a):
        return None
    forwards, backwards = h.minus(g), g.minus(h)
    if forwards is not None:
        return Term(a, forwards)
    return None if backwards is None else Term(b, backwards)
