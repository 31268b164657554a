"""What must hold of every result, judged by the referee's values alone.

Tolerances. ``rounding`` is 1e-9 of the widest range of a term over all sets plus 64 units in the last place of the
largest value of one. Solvers that rest on linear programmes prove no more than those do: 1e-6 of the same range, or
their own ``tolerance`` if that is larger.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fuzz.cases import Case, names
from fuzz.functions import judge_function
from fuzz.referee import Truth, magnitudes

STATUSES = {
    "optimal", "gap", "finished", "local", "time_limit", "node_limit", "interrupted", "callback", "infeasible",
}  # fmt: skip
APPROXIMATE = {"DCA", "SSP", "ModMod", "SupSub", "Greedy", "LocalSearch", "DoubleGreedy"}
BY_PROGRAMMES = {"CompactModel": 1e-6, "Race": 1e-6, "Prismatic": 1e-6, "Scip": 1e-5}
UNSURE = {"FromCallable", "Table", "declare", "LeastSquares"}  # of which submodularity is not known
REFUSALS = ("does not work with", "must", "needs", "checkpoint", "pass one as initial")


def tolerance(case: Case, truth: Truth) -> float:
    """How far values and bounds may be off."""
    widest = max(magnitudes(case.objective)[1], float(np.ptp(truth.values)))
    named = re.search(r"tolerance=([0-9.e-]+)", case.solver or "")
    by_programmes = max(BY_PROGRAMMES.get(case.solver_name, 0.0), float(named[1]) if named else 0.0)
    size = max(widest, abs(truth.minimum)) if math.isfinite(truth.minimum) else widest
    return truth.rounding + by_programmes * (size if np.ptp(truth.values) else max(size, 100.0))


def index_of(S: tuple[int, ...]) -> int:
    """The number of a set."""
    return sum(1 << int(j) for j in S)


def judge_sets(case: Case, truth: Truth, sets: Any, values: Any) -> list[str]:
    """Every set is feasible and has the value that is reported."""
    wrong = []
    for S, value in zip(sets, values):
        if list(S) != sorted(set(S)):
            wrong.append(f"set: {S} is not sorted")
        if not truth.feasible[index_of(S)]:
            wrong.append(f"infeasible: {S} violates a constraint")
        true = float(truth.values[index_of(S)])
        if not abs(value - true) <= truth.rounding:
            wrong.append(f"value: {value!r} of {S} is {true!r}")
    return wrong


def judge_result(case: Case, truth: Truth, result: Any) -> list[str]:
    """All claims about one result of ``minimize``."""
    if result.status not in STATUSES:
        return [f"status: {result.status!r} is unknown"]
    if math.isnan(result.value) or math.isnan(result.lower_bound):
        return [f"nan: {result}"]
    found, slack = math.isfinite(result.value), tolerance(case, truth)
    wrong = judge_sets(case, truth, [result.S], [result.value]) if found else []
    if result.status == "infeasible" and truth.feasible.any():
        wrong.append("infeasible: claimed, but there are feasible sets")
    if result.lower_bound > truth.minimum + slack:
        wrong.append(f"bound: {result.lower_bound!r} lies above the minimum {truth.minimum!r}")
    # Presolve may prove something, and so does a ground set without elements.
    proves_nothing = case.solver_name in APPROXIMATE and not case.options.get("reduce") and len(truth.values) > 1
    if proves_nothing and (result.certified or math.isfinite(result.lower_bound)):
        wrong.append(f"approximate: {case.solver_name} claims a bound {result.lower_bound}")
    return wrong + judge_certificate(case, truth, result, slack)


def judge_certificate(case: Case, truth: Truth, result: Any, slack: float) -> list[str]:
    """What ``certified`` promises, and that it comes with the statuses it may come with."""
    wrong = []
    if result.certified and not (result.status in ("optimal", "gap") and math.isfinite(result.value)):
        wrong.append(f"certificate: certified with status {result.status} and value {result.value}")
    if result.status == "optimal" and not result.certified:
        wrong.append("certificate: optimal, but not certified")
    if result.status == "optimal" and not result.value <= truth.minimum + slack:
        wrong.append(f"certificate: optimal value {result.value!r}, but the minimum is {truth.minimum!r}")
    distance = result.value - result.lower_bound
    if result.status == "optimal" and distance > 2 * truth.rounding and "tolerances" not in result.message:
        wrong.append(f"certificate: optimal with value {result.value!r} and bound {result.lower_bound!r}, unsaid")
    if result.status == "optimal" and not distance <= 2 * slack:
        wrong.append(f"certificate: optimal with value {result.value!r} and bound {result.lower_bound!r}")
    allowed = case.options.get("gap", 0.0) * abs(result.value) + slack
    if result.status == "gap" and result.certified and not result.value <= truth.minimum + allowed:
        wrong.append(f"certificate: gap value {result.value!r}, but the minimum is {truth.minimum!r}")
    if result.status == "gap" and "gap" not in case.options and case.solver_name not in BY_PROGRAMMES:
        wrong.append("status: gap, but none was asked for")
    if result.status == "node_limit" and "node_limit" not in case.options and case.plan != "resume":
        wrong.append("status: node_limit, but none was given")
    sure = not any(term.kind in UNSURE for term in case.objective.walk()) and case.solver_name not in BY_PROGRAMMES
    if result.status == "finished" and sure:
        wrong.append("status: finished, although nothing rests on a claim")
    return wrong


def judge_best_sets(case: Case, truth: Truth, best: Any) -> list[str]:
    """All claims about the K best sets."""
    wrong = judge_sets(case, truth, best.sets, best.values)
    if len(set(best.sets)) != len(best.sets):
        wrong.append("list: a set stands there twice")
    if best.status == "infeasible" and truth.feasible.any():
        wrong.append("infeasible: claimed, but there are feasible sets")
    slack = 2 * tolerance(case, truth)
    if (np.diff(best.values) < -slack).any():
        wrong.append(f"list: not in order: {best.values}")
    return wrong + (judge_list(case, truth, best, slack) if best.certified else [])


def judge_list(case: Case, truth: Truth, best: Any, slack: float) -> list[str]:
    """A certified list has the K least values, and no fewer than asked for."""
    k, distance = case.options["k"], case.options["within"]
    limit = math.inf if distance is None else truth.minimum + distance
    least = truth.sorted_values[:k]
    surely, perhaps = int((least <= limit - slack).sum()), int((least <= limit + slack).sum())
    if not surely <= len(best.sets) <= perhaps:
        return [f"list: {len(best.sets)} sets, but there are {surely} to {perhaps}"]
    if (np.abs(least[: len(best.values)] - np.array(best.values)) > slack).any():
        return [f"list: values {best.values}, but the least are {least.tolist()}"]
    return []


def judge_error(error: BaseException) -> list[str]:
    """One sentence that names the problem, and of a kind that users expect."""
    text = str(error)
    plain = isinstance(error, (ValueError, TypeError, ImportError)) and "\n" not in text and 0 < len(text) < 2000
    if plain and any(word in text for word in REFUSALS):
        return []
    return [f"exception: {type(error).__name__}: {text}"]


@contextmanager
def engines_preferred(wanted: bool) -> Iterator[None]:
    """A block in which small problems go the way of large ones, if that is wanted."""
    from dsprog.solve.rules import number_of_sets

    before = number_of_sets.MOST_WORK
    number_of_sets.MOST_WORK = -1 if wanted else before
    try:
        yield
    finally:
        number_of_sets.MOST_WORK = before


def check(case: Case) -> tuple[list[str], str]:
    """Run a case; what is wrong with it, and how it ended in a word."""
    truth = Truth(case.objective, case.constraints)
    with warnings.catch_warnings(record=True) as caught, tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("always")
        with engines_preferred(case.searched):
            wrong, ended = checked_calls(case, truth, os.path.join(folder, "run.npz"))
    return wrong + sorted({f"warning: {w.category.__name__}: {w.message}" for w in caught}), ended


def checked_calls(case: Case, truth: Truth, checkpoint: str) -> tuple[list[str], str]:
    """All calls of a case, each judged."""
    known = names()
    try:
        known["objective"] = eval(case.objective.source, known)
        known["constraints"] = [eval(term.source, known) for term in case.constraints]
    except Exception as error:
        return [f"construction: {type(error).__name__}: {error}"], "refused"
    wrong = judge_functions(case, known)
    judge = judge_best_sets if case.plan == "enumerate" else judge_result
    for call in case.calls(checkpoint):
        try:
            result = eval(call, known)
        except Exception as error:
            return wrong + judge_error(error), "refused"
        wrong += judge(case, truth, result)
    if case.plan == "resume":
        wrong += judge_resumed(case, truth, result, eval(case.call(), known))
    return wrong, result.status


def judge_functions(case: Case, known: dict[str, Any]) -> list[str]:
    """The objective and a term of it."""
    rng = np.random.default_rng(0)
    terms = [term for term in case.objective.walk() if "fn" not in term.data][:2]
    functions = [(term, eval(term.source, known)) for term in terms]
    wrong = [judge_function(term, function, rng) for term, function in functions if function.n <= 8]
    return [sentence for sentences in wrong for sentence in sentences]


def judge_resumed(case: Case, truth: Truth, resumed: Any, whole: Any) -> list[str]:
    """A resumed run proves what an uninterrupted one does."""
    if "time_limit" in (resumed.status, whole.status) or resumed.status == whole.status == "finished":
        return []  # nothing is proved
    if resumed.status != whole.status and not {resumed.status, whole.status} <= {"optimal", "gap"}:
        return [f"resume: status {resumed.status}, without interruption {whole.status}"]
    allowed = case.options.get("gap", 0.0) * abs(whole.value) + tolerance(case, truth)
    if abs(resumed.value - whole.value) > allowed:
        return [f"resume: value {resumed.value!r}, without interruption {whole.value!r}"]
    return []
