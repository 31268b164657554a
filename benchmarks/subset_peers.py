"""One solver on files of data, for :mod:`benchmarks.subsets`: ``python subset_peers.py NAME LIMIT FILE ...``.

It runs in the interpreter that has the solver, imports nothing of this folder, and prints one line of JSON for each
file: CPU seconds of the solver alone, after a small problem that compiles what is compiled, the set, and whether it
claims a proof. The limit is one of CPU seconds, whatever else the machine does: a signal ends the solver.
"""

import json
import signal
import sys
import time

import numpy as np

GAP = 1e-4  # relative, that peers are asked for; dsprog proves the optimum itself


def run_dsprog(X, y, data, limit):
    import dsprog as ds

    objective, budget = ds.LeastSquares(X, y, data["ridge"]), [ds.Cardinality(max=int(data["k"]))]
    result = ds.minimize(objective, constraints=budget, time_limit=limit)
    return result.S, result.certified


def run_dsprog_penalised(X, y, data, limit):
    import dsprog as ds

    objective = ds.LeastSquares(X, y, data["ridge"]) + float(data["lam"]) * ds.Modular(np.ones(X.shape[1]))
    result = ds.minimize(objective, time_limit=limit)
    return result.S, result.certified


def run_okridge(X, y, data, limit):
    from okridge.tree import BNBTree

    tree = BNBTree(X, y, lambda2=data["ridge"] * len(y))
    _, w, gap, _, _ = tree.solve(int(data["k"]), gap_tol=GAP, time_limit=limit)
    return np.flatnonzero(w), gap <= GAP


def run_l0bnb(X, y, data, limit):
    from l0bnb import BNBTree

    rows = len(y)
    found = BNBTree(X, y).solve(
        data["lam"] * rows, data["ridge"] * rows / 2, float(data["M"]), gap_tol=GAP, time_limit=limit
    )
    return np.flatnonzero(found.beta), found.gap <= GAP


def run_el0ps(X, y, data, limit):
    import pybnb
    from el0ps.datafit import Leastsquares
    from el0ps.penalty import Bigm, L2norm
    from el0ps.solver import BnbSolver, Status

    pybnb.Solver.__init__.__defaults__ = (None, *pybnb.Solver.__init__.__defaults__[1:])  # one process, no MPI
    rows = len(y)
    penalty = L2norm(data["ridge"] * rows / 2) if data["ridge"] > 0 else Bigm(float(data["M"]))
    solver = BnbSolver(relative_gap=GAP, time_limit=limit, verbose=False)
    found = solver.solve(Leastsquares(y), penalty, np.asfortranarray(X), data["lam"] * rows)
    return np.flatnonzero(found.x), found.status == Status.OPTIMAL


def run_abess(X, y, data, limit):
    from abess.linear import LinearRegression

    model = LinearRegression(support_size=int(data["k"]), fit_intercept=False, thread=1)  # without a ridge
    return np.flatnonzero(model.fit(X, y).coef_), False


SOLVERS = {
    "dsprog": run_dsprog,
    "okridge": run_okridge,
    "abess": run_abess,
    "dsprog penalised": run_dsprog_penalised,
    "l0bnb": run_l0bnb,
    "el0ps": run_el0ps,
}


def warm_up(run):
    """Small problems of the same kind, with a ridge and without."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    y = X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=60)
    for ridge in (0.01, 0.0):
        run(X, y, {"k": 3, "ridge": ridge, "lam": 0.05, "M": 3.0}, 5.0)


def answer(run, path, limit):
    """What a solver says to one file, within some CPU seconds."""
    with np.load(path) as stored:
        data = {key: stored[key] if stored[key].ndim else stored[key].item() for key in stored.files}
    began = time.process_time()

    def look(*_):  # by the clock, since a timer of CPU seconds would make process_time as coarse as itself
        if time.process_time() - began > limit:
            raise TimeoutError

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
    try:
        S, proved = run(data.pop("X"), data.pop("y"), data, 20.0 * limit)
        said = {"S": [int(j) for j in S], "proved": bool(proved)}
    except TimeoutError:
        said = {"proved": False}
    except Exception as error:  # a peer that fails is a row that says so; at the limit compiled code makes others of it
        late = time.process_time() - began > limit
        said = {"proved": False} if late else {"error": f"{type(error).__name__}: {error}"[:80]}
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {"seconds": time.process_time() - began, **said}


def main():
    name, limit = sys.argv[1], float(sys.argv[2])
    try:
        warm_up(SOLVERS[name])
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"[:80]}), flush=True)
        return
    for path in sys.argv[3:]:
        print(json.dumps(answer(SOLVERS[name], path, limit)), flush=True)


if __name__ == "__main__":
    main()
