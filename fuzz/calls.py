"""Random solvers and options of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuzz.cases import Code
from fuzz.draw import Draw
from fuzz.objectives import determinants, quadratic, regression, rewarded

SECONDS = 5.0  # of any call: what takes longer is stopped by its time limit


def solver(draw: Draw, **choices: list) -> str:
    """Arguments of a solver, each left out now and then."""
    named = {name: draw.choice(values) for name, values in choices.items() if draw.chance(0.5)}
    return "(" + ", ".join(f"{name}={value!r}" for name, value in named.items()) + ")"


BOUNDS = [("modular",), ("dual",), ("modular", "dual"), ("dual", "modular")]
INTERVAL = {
    "bounds": BOUNDS,
    "extensions": [False],
    "steps": [1, 9],
    "batch": [1, 3],
    "leaf": [0, 1, 5],
    "unit": [1, 7],
    "starts": [0, 1],
}
PRISMATIC = {"bound": ["lp", "bilp"], "subdivision": ["optimum"], "no_goods": [True], "tolerance": [0.0, 1e-4]}
EXACT: dict[str, dict[str, list]] = {
    "BruteForce": {"batch": [1, 5]},
    "BranchAndBound": INTERVAL,
    "CompactModel": {"tolerance": [0.0, 1e-5], "starts": [0, 2], "backend": ["highs", "scip"]},
    "Race": {"turn": [0.01, 0.1]},
    "Prismatic": PRISMATIC,
    "QuadraticBranchAndBound": {
        "trial": [0, 3],
        "sparse": [0.0, 1.0],
        "large": [0, 8],
        "starts": [0, 1],
        "probing": [True],
    },
    "PerspectiveBranchAndBound": {"steps": [0, 3], "root_steps": [1], "root_rounds": [1], "unit": [1, 5]},
    "BudgetBranchAndBound": {},
    "DeterminantBranchAndBound": {},
    "BucketElimination": {},
    "Scip": {},
}
APPROXIMATE: dict[str, dict[str, list]] = {
    "DCA": {"complete": [True], "rho": [0.0, 1.0], "iterations": [1, 5], "restarts": [1, 3]},
    "SSP": {"order": ["random", "best"], "restarts": [1, 3], "tries": [1]},
    "ModMod": {"restarts": [1, 3]},
    "SupSub": {"restarts": [1, 3]},
    "Greedy": {"direction": ["backward", "bidirectional"], "restarts": [1, 4]},
    "LocalSearch": {"moves": ["swap", "tabu"], "restarts": [1, 3], "steps": [1, 20]},
    "DoubleGreedy": {"randomised": [True], "restarts": [1, 3]},
}
RESUMING = (None, "BranchAndBound", "CompactModel", "QuadraticBranchAndBound", "PerspectiveBranchAndBound", "Prismatic")
RESUMING += ("BudgetBranchAndBound", "DeterminantBranchAndBound")
LISTING = (None, None, "BranchAndBound", "PerspectiveBranchAndBound", "BruteForce", "BudgetBranchAndBound")
LISTING += ("QuadraticBranchAndBound",)


FITTING = {
    quadratic: "QuadraticBranchAndBound",
    regression: "PerspectiveBranchAndBound",
    rewarded: "BudgetBranchAndBound",
    determinants: "DeterminantBranchAndBound",
}


def solver_source(draw: Draw, name: str | None) -> str | None:
    """A solver with random options."""
    return None if name is None else f"ds.{name}{solver(draw, **(EXACT | APPROXIMATE)[name])}"


def pick_solver(draw: Draw, make: Callable) -> str | None:
    """The default, one that fits the objective, or any."""
    fitting = FITTING.get(make, "BranchAndBound")
    general = ["BruteForce", "BranchAndBound", "CompactModel", "Race", "Prismatic", "Scip"]
    if draw.chance(0.04):
        return draw.choice(list(EXACT))
    return (
        draw.choice([None, None, fitting, fitting, *general]) if draw.chance(0.75) else draw.choice(list(APPROXIMATE))
    )


def options(draw: Draw, plan: str) -> dict[str, Any]:
    """Arguments of the call."""
    chosen: dict[str, Any] = {"time_limit": SECONDS, "seed": int(draw.rng.integers(0, 3))}
    if draw.chance(0.5):
        chosen["reduce"] = draw.choice([True, False])
    if plan != "resume" and draw.chance(0.15):
        chosen["node_limit"] = draw.choice([0, 1, 2, 5, 20])
    if plan != "resume" and draw.chance(0.08):
        chosen["callback"] = Code("lambda event: event.nodes > 2")
    if plan == "enumerate":
        return chosen | {"k": draw.choice([1, 2, 3, 7, 40]), "within": draw.choice([None, None, 0.0, 1.0 * draw.scale])}
    if draw.chance(0.12):
        chosen["gap"] = draw.choice([1e-6, 0.01, 0.5])
    if draw.chance(0.2):
        chosen["initial"] = draw.subset(draw.n)
    return chosen
