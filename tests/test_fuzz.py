"""A short, seeded part of ``make fuzz``, and the referee itself."""

import importlib.util

import numpy as np
import pytest

from fuzz.cases import Code, Term, names
from fuzz.claims import check
from fuzz.draw import Draw
from fuzz.families import SUBMODULAR
from fuzz.generators import random_case
from fuzz.kills import check_kills
from fuzz.referee import DEFINITIONS, Truth, all_sets, values
from fuzz.shrink import shrink

SEED = 2026


@pytest.mark.parametrize("block", range(5))
def test_cases(block):
    for index in range(30 * block, 30 * (block + 1)):
        case = random_case(SEED, index)
        assert check(case)[0] == [], case.script([])


@pytest.mark.parametrize("make", SUBMODULAR, ids=lambda make: make.__name__)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_families_have_the_values_of_their_definitions(make, n):
    for seed in range(3):
        draw = Draw(np.random.default_rng([seed, n]), n)
        draw.scale = 1.0
        term = make(draw)
        function, expected = eval(term.source, names()), values(term)
        np.testing.assert_allclose(function.values(all_sets(n).astype(bool)), expected, rtol=1e-9, atol=1e-9)


def test_every_definition_is_met():
    met = {term.kind for index in range(400) for term in random_case(0, index).objective.walk()}
    assert met == set(DEFINITIONS)


@pytest.mark.parametrize("seed", range(3))
def test_killed_runs(seed):
    assert check_kills(seed, kills=1) == []


@pytest.mark.skipif(importlib.util.find_spec("fuzz.files") is None, reason="no files to mutate")
def test_files():
    from fuzz.files import fuzz_files

    assert not fuzz_files(SEED, 0.05)


def test_referee_takes_decimals_at_their_word():
    knapsack = Term("Knapsack", {"weights": [0.1, 0.2], "capacity": 0.3})
    truth = Truth(Term("Modular", {"weights": [-1.0, -1.0]}), (knapsack,))
    assert truth.feasible.all()
    assert truth.minimum == -2.0


def test_limits_of_rows_are_the_decimals_that_are_meant():
    """-0.4 + 0.5 is less than 0.1, and a set that weighs 0.1 is feasible for the library."""
    rows = [term for index in range(400) for term in random_case(0, index).constraints if "lo" in term.data]
    limits = [limit for term in rows for limit in (*term.data["lo"], *term.data["hi"]) if np.isfinite(limit)]
    assert len(limits) > 20
    assert all(limit == round(limit, 12) for limit in limits)


def test_shrinking_keeps_what_fails():
    case = random_case(SEED, 3)
    smallest = shrink(case, lambda other: True)
    assert len(list(smallest.objective.walk())) == 1
    assert smallest.constraints == ()


def test_reproducers_run():
    term = Term("FromCallable", {"fn": Code("lambda S: -len(S)"), "n": 2, "submodular": True})
    from fuzz.cases import Case

    exec(compile(Case(term).script(["nothing"]), "reproducer", "exec"), {})
