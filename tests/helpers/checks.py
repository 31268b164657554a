"""scikit-learn's own checks of an estimator, but for those that are wrong in some version."""

from typing import Any

import sklearn

# 1.6 subtracts a mean from the integers that it gives to estimators of categories, in place, which numpy refuses.
WRONG = {"check_positive_only_tag_during_fit": "wrong in scikit-learn 1.6"} if sklearn.__version__ < "1.7" else {}


def wrong_checks(estimator: Any) -> dict[str, str]:
    """What ``parametrize_with_checks`` is to expect to fail."""
    return WRONG
