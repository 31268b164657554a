"""A process with a memory limit that reads files, and says what became of each."""

from __future__ import annotations

import json
import resource
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

MEMORY = 2 << 30  # bytes that a worker may take beside what it has after its imports
SECONDS = 60.0  # for one file; the first calls of a kernel compile it
LARGE = 500  # elements beyond which only a few values are asked for
SMALL = 7  # elements up to which the function is minimised


class Reader:
    """A process that reads files, started again after each that it does not survive."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> tuple[str, str]:
        """What became of a file: refused, accepted, or what is wrong."""
        if self.process is None:
            command = [sys.executable, "-m", "fuzz.reader"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert self.process.stdin is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.process.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
            if not waiting.select(SECONDS):
                self.close()
                return "hang", f"no answer within {SECONDS:g} seconds"
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        if line:
            kind, detail = json.loads(line)
            return kind, detail
        code = self.process.wait()
        self.close()
        return "crash", f"the process ended with {code}"

    def close(self) -> None:
        """End the process, and its pipes."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def worker() -> None:
    """Read the paths that come in, answer each with a line."""
    import dsprog as ds

    ds.minimize(ds.CardinalityConcave(5) - ds.Modular(np.ones(5)), ds.BruteForce())
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    for line in sys.stdin:
        print(json.dumps(judged(Path(line.rstrip("\n")))), flush=True)


def judged(path: Path) -> tuple[str, str]:
    """What becomes of a file, and the error behind it without its numbers."""
    import dsprog as ds

    try:
        problem = ds.read(path)
    except (ValueError, TypeError) as error:
        if memory_ran_out(error):
            return "memory", where(error)
        return ("refused", "") if "\n" not in str(error) else ("several lines", where(error))
    except MemoryError as error:
        return "memory", where(error)
    except Exception as error:
        return "traceback", where(error)
    try:
        use(problem)
    except Exception as error:
        return "memory" if memory_ran_out(error) else "breaks", where(error)
    return "accepted", ""


def memory_ran_out(error: BaseException) -> bool:
    """Whether an error, or one behind it, is that there is no memory left."""
    behind = error.__cause__ or error.__context__
    return isinstance(error, MemoryError) or (behind is not None and memory_ran_out(behind))


def where(error: BaseException) -> str:
    """Kind and place of the error at the bottom."""
    while error.__cause__ is not None:
        error = error.__cause__
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"{type(error).__name__} at {place}: {str(error)[:150]}"


def lost_digits(f: Any) -> float:
    """What the conditioning of a matrix takes from its log-determinants.

    A determinant from pivots is that of a matrix that is off by about n ε λ_max. Of the smallest eigenvalue λ_min that
    is the share n ε λ_max / λ_min, by which its logarithm moves.
    """
    worst = max((lost_digits(h) for h in f.inner()), default=0.0)
    A = f.L + np.eye(f.n) if hasattr(f, "L") else getattr(f, "cov", np.zeros((0, 0)))
    if len(A):
        spectrum = np.linalg.eigvalsh(A)
        worst = max(worst, 64 * len(A) * float(np.finfo(float).eps) * float(spectrum[-1] / max(spectrum[0], 1e-300)))
    return worst


def use(problem: Any) -> None:
    """Compute what solvers ask of a function, and the minimum of a small one."""
    import dsprog as ds

    f = problem.objective if isinstance(problem, ds.Problem) else problem
    rng = np.random.default_rng(0)
    masks = rng.random((3, f.n)) < 0.5
    values = f.values(masks)
    if f.n > LARGE:
        return
    orders = np.array([rng.permutation(f.n)]).reshape(1, f.n)
    marginals, chain = f.marginals(masks), f.chains(orders)
    if not (np.isfinite(marginals).all() and np.isfinite(chain).all()):
        raise ArithmeticError("marginals or chains are not finite")
    probes = f.values(np.vstack([np.zeros(f.n), np.ones(f.n), np.eye(f.n)]).astype(bool))
    size = 1e-300 + np.abs(values).sum() + np.abs(probes).sum() + np.abs(chain).sum()
    if abs(chain.sum() - (probes[1] - probes[0])) > 1e-6 * size + lost_digits(f):
        raise ArithmeticError("a chain does not add up to f(V) - f(∅)")
    if f.n <= SMALL:
        try:
            ds.minimize(problem, time_limit=5.0)
        except (ValueError, TypeError) as error:
            if memory_ran_out(error) or "\n" in str(error):
                raise


if __name__ == "__main__":
    worker()
