"""Ctrl-C ends a path with what it has, and a choice among several weights or sizes altogether."""

import pytest

from dsprog.applications import feature_path, lam_max
from tests.applications.features.test_feature_selection import sparse_data
from tests.helpers.interruption import interrupt_call

pytest.importorskip("sklearn")
from dsprog.applications import SubmodularFeatureSelector, SubmodularFeatureSelectorCV
from dsprog.run.run import Run

X, y = sparse_data()
LAMS = [0.01, 0.1, 0.03]


def press_in_run(monkeypatch, number):
    """Press Ctrl-C as the given run begins to say something."""
    runs, real = [], Run.say

    def say(self, line):
        if self not in runs:
            runs.append(self)
            if len(runs) == number:
                monkeypatch.setattr(Run, "say", real)
                raise KeyboardInterrupt
        return real(self, line)

    monkeypatch.setattr(Run, "say", say)


@pytest.mark.parametrize(
    ("options", "last"), [({"lams": LAMS}, 1), ({"lams": LAMS}, 2), ({"lams": LAMS}, 3), ({"sizes": [3, 1, 2]}, 2)]
)
def test_a_path_ends_with_what_it_has(monkeypatch, options, last):
    ordered = {name: sorted(values, reverse=name == "lams") for name, values in options.items()}
    whole = feature_path(X, y, **ordered)
    press_in_run(monkeypatch, last)
    path = feature_path(X, y, **options)
    assert len(path) == last
    assert [result.status for result in path[:-1]] == ["optimal"] * (last - 1)
    assert path[-1].status == "interrupted"
    assert not path[-1].certified
    assert [result.S for result in path[:-1]] == [result.S for result in whole[: last - 1]]


CHOICES = {
    "first fold": (lambda: SubmodularFeatureSelectorCV(LAMS, cv=2), 1),
    "second fold": (lambda: SubmodularFeatureSelectorCV(sizes=[1, 2], cv=2), 4),
    "all rows": (lambda: SubmodularFeatureSelectorCV(sizes=[1, 2], cv=2), 5),
    "fractions": (lambda: SubmodularFeatureSelectorCV(cv=2), 1),
    "several weights": (lambda: SubmodularFeatureSelector(LAMS, cv=2), 2),
    "several weights, all rows": (lambda: SubmodularFeatureSelector(LAMS, cv=2), 7),
    "the word": (lambda: SubmodularFeatureSelector("max"), 1),
}


@pytest.mark.parametrize("case", CHOICES)
def test_a_choice_ends_altogether(monkeypatch, case):
    selector, number = CHOICES[case]
    press_in_run(monkeypatch, number)
    with pytest.raises(KeyboardInterrupt):
        selector().fit(X, y)


def test_one_fit_keeps_its_result(monkeypatch):
    press_in_run(monkeypatch, 1)
    selector = SubmodularFeatureSelector(0.01).fit(X, y)
    assert selector.result_.status == "interrupted"
    assert not selector.result_.certified


def test_the_largest_weight_is_not_guessed(monkeypatch):
    press_in_run(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        lam_max(X, y)


def test_the_signal_itself(monkeypatch):
    calls = interrupt_call(monkeypatch, Run, "say", 4)
    assert feature_path(X, y, LAMS)[-1].status == "interrupted"
    assert len(calls) >= 4
