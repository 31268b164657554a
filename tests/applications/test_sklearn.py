"""The scikit-learn faces keep scikit-learn's promises."""

import pytest

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks

from dsprog.applications import MDLDiscretizer, TANClassifier
from tests.helpers.checks import wrong_checks

ESTIMATORS = [
    TANClassifier(),
    TANClassifier(structure="generative", smoothing=0.0),
    TANClassifier(method="pairwise", criterion="conditional_likelihood", missing="drop"),
    MDLDiscretizer(),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=wrong_checks)
def test_estimator(estimator, check):
    check(estimator)
