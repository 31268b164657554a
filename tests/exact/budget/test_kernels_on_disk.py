"""The compiled search of one problem does not get in the way of another's when both come from disk."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
import numpy as np
import dsprog as ds

def reward(kind, rng):
    chances = ds.ProbabilisticCoverage(0.5 * rng.random((8, 22)), rng.random(8))
    return chances if kind == "chances" else ds.ConcaveOfModular(rng.random((6, 22)))

for kind in sys.argv[2:]:
    for seed in range(int(sys.argv[1])):
        objective = -1.0 * reward(kind, np.random.default_rng(seed))
        best = ds.enumerate_best(objective, 20, solver=ds.BudgetBranchAndBound(), constraints=[ds.Cardinality(max=7)])
        print(kind, [round(value, 9) for value in best.values])
"""


@pytest.mark.slow
def test_lists_are_the_same_whatever_else_is_on_disk(tmp_path):
    """Three processes fill an empty folder, a fourth loads the searches of both problems from it."""

    def run(*arguments):
        command = [sys.executable, "-c", SCRIPT, *arguments]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=600)
        return ended.stdout.splitlines()

    run("1", "chances")
    run("3", "chances")
    alone = run("4", "curves")
    beside = run("4", "chances", "curves")
    assert beside[4:] == alone
