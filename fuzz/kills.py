"""Kill runs with a checkpoint at random moments, resume until they are done, and compare with enumeration."""

from __future__ import annotations

import json
import math
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fuzz.cases import Case, Term
from fuzz.referee import Truth

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PROGRAMME = """
import json, signal, sys
import numpy as np
import dsprog as ds
from dsprog.run import checkpoint
signal.signal(signal.SIGINT, signal.default_int_handler)
checkpoint.SECONDS_BETWEEN = 0.0
objective, constraints = {objective}, []
print("begun", flush=True)
result = {call}
print(json.dumps([result.status, list(result.S), result.value, result.lower_bound]), flush=True)
"""


def slow_case(seed: int) -> Case:
    """A problem of 12 elements that keeps a search busy for some tenths of a second, in small units of work."""
    rng = np.random.default_rng([seed, 77])
    n = 12
    W = rng.integers(0, 9, (6, n)).tolist()
    f = Term("ConcaveOfModular", {"W": W, "concave": "sqrt"})
    covers = (rng.random((20, n)) < 0.3).astype(int).tolist()
    g = Term("Coverage", {"members": covers, "weights": rng.uniform(0, 1, 20).round(3).tolist()})
    objective = Term("Difference", {}, (f, Term("Combination", {"coefficients": [3.0]}, (g,))))
    solvers = ("ds.BranchAndBound(batch=1, unit=1, leaf=0, steps=1)", None, "ds.CompactModel(starts=0)")
    return Case(objective, (), solvers[seed % 3], {"seed": 0, "reduce": bool(seed % 2)}, "minimize")


def start(case: Case, checkpoint: Path) -> subprocess.Popen[str]:
    """Begin or resume the run in a process of its own."""
    source = PROGRAMME.format(objective=case.objective.source, call=case.call({"checkpoint": str(checkpoint)}))
    return subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stopped_at(process: subprocess.Popen[str], seconds: float, how: signal.Signals) -> tuple[list | None, str]:
    """Wait for the run to begin, then some seconds, then send a signal; its result if it wrote one, and its errors."""
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(how)
    out, errors = ended(process)
    return (json.loads(out) if out.strip().endswith("]") else None), errors


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process wrote; one that does not end within two minutes is a finding."""
    try:
        return process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "", "it hung"


def judge(found: list, truth: Truth) -> list[str]:
    """A run that was killed and resumed tells no more than the truth, and all of it at its end."""
    status, S, value, lower = found
    wrong = []
    if lower > truth.minimum + truth.rounding:
        wrong.append(f"kill: bound {lower!r} above the minimum {truth.minimum!r}")
    if math.isfinite(value) and abs(value - truth.values[sum(1 << j for j in S)]) > truth.rounding:
        wrong.append(f"kill: value {value!r} of {S} is wrong")
    if status == "optimal" and not value <= truth.minimum + 1e-6 * max(1.0, abs(truth.minimum)):
        wrong.append(f"kill: optimal value {value!r}, but the minimum is {truth.minimum!r}")
    return wrong


def check_kills(seed: int, kills: int = 3) -> list[str]:
    """One problem, killed some times and then left alone."""
    case, draw = slow_case(seed), random.Random(seed)
    truth = Truth(case.objective, ())
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "run.npz"
        for _ in range(kills):
            how = draw.choice(SIGNALS)
            found, errors = stopped_at(start(case, checkpoint), draw.uniform(0.0, 0.5), how)
            if found is not None:
                wrong += judge(found, truth)
            elif how == signal.SIGINT and "KeyboardInterrupt" not in errors:
                wrong.append(f"kill: Ctrl-C ended in {errors.strip().splitlines()[-1:]}")
        out, errors = ended(start(case, checkpoint))
        if "[" not in out:
            return [*wrong, f"kill: no result after resuming: {errors.strip().splitlines()[-1:]}"]
        found = json.loads(out.splitlines()[-1])
        wrong += judge(found, truth)
        if found[0] != "optimal":
            wrong.append(f"kill: a resumed run ended {found[0]}")
    return wrong
