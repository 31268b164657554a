"""Recipes that turn data into problems, and scikit-learn faces on top.

Names that need scikit-learn are imported when first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dsprog.applications.choosing import dominating_set, k_medoids
from dsprog.applications.design import d_optimal_design
from dsprog.applications.energy import ising, max_cut, qubo
from dsprog.applications.expansion import alpha_expansion
from dsprog.applications.features.group_penalties import group_penalty, tree_penalty
from dsprog.applications.features.largest_weight import lam_max
from dsprog.applications.features.paths import feature_path
from dsprog.applications.features.recipes import (
    feature_selection_objective,
    information_selection_objective,
    logistic_selection_objective,
)
from dsprog.applications.labels.minimize_labels import minimize_labels
from dsprog.applications.matching import match_points
from dsprog.applications.sensors import (
    budget_path,
    draw_sensors,
    field_covariance,
    grid_points,
    sensor_objective,
)
from dsprog.applications.tan.explaining_away import explaining_away
from dsprog.applications.vision import restore, segment

if TYPE_CHECKING:  # so that editors and type checkers see what is imported later
    from dsprog.applications.datasets import load_census, load_chess, load_german, load_hepatitis
    from dsprog.applications.features.selector import SubmodularFeatureSelector
    from dsprog.applications.features.selector_cv import SubmodularFeatureSelectorCV
    from dsprog.applications.tan.classifier import TANClassifier
    from dsprog.applications.tan.discretize import MDLDiscretizer

LATER = {
    "MDLDiscretizer": "tan.discretize",
    "SubmodularFeatureSelector": "features.selector",
    "SubmodularFeatureSelectorCV": "features.selector_cv",
    "TANClassifier": "tan.classifier",
    "load_census": "datasets",
    "load_chess": "datasets",
    "load_german": "datasets",
    "load_hepatitis": "datasets",
}

__all__ = [
    "MDLDiscretizer",
    "SubmodularFeatureSelector",
    "SubmodularFeatureSelectorCV",
    "TANClassifier",
    "alpha_expansion",
    "budget_path",
    "d_optimal_design",
    "dominating_set",
    "draw_sensors",
    "explaining_away",
    "feature_path",
    "feature_selection_objective",
    "field_covariance",
    "grid_points",
    "group_penalty",
    "information_selection_objective",
    "ising",
    "k_medoids",
    "lam_max",
    "load_census",
    "load_chess",
    "load_german",
    "load_hepatitis",
    "logistic_selection_objective",
    "match_points",
    "max_cut",
    "minimize_labels",
    "qubo",
    "restore",
    "segment",
    "sensor_objective",
    "tree_penalty",
]


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"dsprog.applications.{LATER[name]}"), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"{name} needs {error.name}, which is not there: pip install dsprog[ml]") from error


def __dir__() -> list[str]:
    return sorted({*globals(), *LATER})
