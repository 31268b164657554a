"""Random cases: every family, algebra, constraint, scale, solver and option, ties and degenerate ones among them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fuzz.calls import LISTING, RESUMING, options, pick_solver, solver_source
from fuzz.cases import Case
from fuzz.draw import Draw
from fuzz.objectives import OBJECTIVES, determinants, quadratic, rewarded
from fuzz.rows import budget, constraints

BUDGETED = (rewarded, determinants)  # objectives that are rarely met without a budget
FREE = ("QuadraticBranchAndBound", "BucketElimination", "DCA", "DoubleGreedy")  # most rows are refused


def random_case(seed: int, index: int) -> Case:
    """The case of that number."""
    rng = np.random.default_rng([seed, index])
    make = OBJECTIVES[int(rng.integers(len(OBJECTIVES)))]
    sizes = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) if make is not quadratic else (1, 3, 5, 8, 13, 14)
    draw = Draw(rng, int(rng.choice(sizes)))
    plan = draw.choice(["minimize"] * 6 + ["enumerate", "resume"])
    objective, rows = make(draw), budget(draw) if make in BUDGETED and draw.chance(0.8) else constraints(draw)
    some = {"enumerate": LISTING, "resume": RESUMING}
    name = draw.choice(some[plan]) if plan in some else pick_solver(draw, make)
    if name in FREE and draw.chance(0.9):
        rows = ()
    limits = tuple(int(k) for k in rng.integers(0, 12, 3)) if plan == "resume" else ()
    case = Case(objective, rows, solver_source(draw, name), options(draw, plan), plan, limits)
    return replace(case, searched=draw.chance(0.8))
