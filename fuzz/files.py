"""Files from strangers, by the thousand: valid instances of every family and format, mutated, read in a process apart.

A worker process with a memory limit reads one file after another and says what became of it; the parent watches its
clock. A file must be refused by ValueError or TypeError, or give a function whose values, marginals, chains and
minimum can be computed. Everything else is a finding: a crash, a hang, a memory blow-up, another kind of traceback, an
accepted file whose function breaks.

    python -m fuzz.files 0 2        # seed 0, two minutes

The files behind findings are kept in a folder, whose name is printed.
"""

from __future__ import annotations

import io
import json
import resource
import selectors
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MEMORY = 2 << 30  # bytes that a worker may take beside what it has after its imports
SECONDS = 60.0  # for one file; the first calls of a kernel compile it
LARGE = 500  # elements beyond which only a few values are asked for
SMALL = 7  # elements up to which the function is minimised

TEXTS = {
    "instance.uai": "MARKOV\n3\n2 2 2\n4\n1 0\n2 0 1\n2 1 2\n0\n\n2 0.5 1.5\n4\n 1 2 3 4\n4 2 1 1 2\n1 7\n",
    "instance.sparse": "3 4\n1 1 -5\n1 2 3\n2 3 -1\n3 3 2\n",
    "or-library": "2\n3 2\n1 1 5\n1 2 -3\n2 1\n1 2 4\n",
    "instance.qubo": "c text\np qubo 0 3 1 2\n0 0 -5\n0 1 3\n1 2 -1\n",
    "instance.rudy": "3 3\n1 2 4\n2 3 1\n1 3 -2\n",
    "instance.dimacs": "c text\np max 4 5\nn 1 s\nn 4 t\na 1 2 3\na 1 3 2\na 2 3 5\na 2 4 2\na 3 4 3\n",
}
WORDS = ["", "0", "-1", "1", "2", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "1000000000", "9" * 30, "9" * 5000]
WORDS += ["x", "p", "n", "a", "c", "#", "²", "\x00", "0x10", "1_0", "3.5", "MARKOV", "max", "1" + "0" * 7]
NUMBERS = [0, -1, 1, 2, 3, 0.0, -0.5, 0.5, 1e-320, 1e-15, 1e15, 1e100, 1e150, 1e290, 1e300, -1e299, 1e308, 2**31, 10**6]
VALUES: list[Any] = [None, True, False, 0, -1, 1, 3, 0.5, 1e308, -1e308, 1e300, 1e150, 1e-320, 10**6, 10**9, 10**20]
VALUES += [2**53, 2**63, float("nan"), float("inf"), -float("inf"), "", "x", "sqrt", "Cut", "<U500000000", "|O", ">f8"]
VALUES += ["<f2", "|b1", [], [[]], {}, [0], [-1, 5], [[1e308, 1e308], [1e308, 1e308]], ["a"], [None], [10**12]]
VALUES += [{"array": [1, 2], "dtype": "<i8"}, {"entry": "a0"}, {"entry": "a9"}, {"array": 7, "dtype": "<f8"}]
VALUES += [{"family": "Modular", "weights": [1.0, 2.0]}, {"family": "Sum", "n": 2, "terms": []}, {"family": "View"}]
VALUES += [{"sparse": [[1.0], [0], [0]], "shape": [3, 3]}, {"sparse": [[1.0], [0], [0]], "shape": [10**6, 10**6]}]


@dataclass(frozen=True)
class Finding:
    """What went wrong with a file, and where the file is."""

    kind: str
    path: Path
    detail: str


def fuzz_files(seed: int = 0, minutes: float = 1.0, folder: Path | None = None) -> list[Finding]:
    """Write, mutate and read files until the time is over; a finding of each kind and message once."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-files-")) if folder is None else folder
    rng, findings, until = np.random.default_rng(seed), {}, time.monotonic() + 60 * minutes
    originals, reader, kinds = valid_files(folder), Reader(), Counter[str]()
    try:
        for name, data in originals.items():
            (folder / name).write_bytes(data)
            kind, detail = reader.read(folder / name)
            if kind != "accepted":
                findings[name, kind] = Finding(f"valid, but {kind}", folder / name, detail)
        while time.monotonic() < until:
            name = str(rng.choice(list(originals)))
            path = folder / f"mutated-{kinds.total()}-{name}"
            path.write_bytes(mutated(originals[name], rng))
            kind, detail = reader.read(path)
            kinds[kind] += 1
            if kind in ("refused", "accepted") or (kind, detail) in findings:
                path.unlink()
            else:
                findings[kind, detail] = Finding(kind, path, detail)
    finally:
        reader.close()
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"{kinds.total()} files read ({counts}), {len(findings)} findings, kept in {folder}")
    return list(findings.values())


def valid_files(folder: Path) -> dict[str, bytes]:
    """The bytes of an instance of every family, as JSON and as npz, and of every text format."""
    files = {name: text.encode() for name, text in TEXTS.items()}
    for name, (objective, constraints) in instances().items():
        for suffix in ("json", "npz"):
            path = folder / f"{name}.{suffix}"
            objective.save(path, constraints)
            files[path.name] = path.read_bytes()
            path.unlink()
    return files


def instances(n: int = 5) -> dict[str, tuple[Any, list[Any]]]:
    """A function of every family on n elements, seen through every view, with every constraint."""
    import dsprog as ds

    rng = np.random.default_rng(0)
    X, y, W = rng.integers(0, 3, (12, n)), rng.integers(0, 2, 12), rng.random((3, n)).round(2)
    A = np.triu(rng.integers(0, 3, (n, n)), 1).astype(float)
    functions = {
        "modular": ds.Modular(rng.normal(size=n), 2.0),
        "sqrt": ds.ConcaveOfModular(W, rng.random(3)),
        "power": ds.ConcaveOfModular(W, concave="power", parameter=0.7),
        "truncate": ds.ConcaveOfModular(W, concave="truncate", parameter=0.8),
        "cardinality": ds.CardinalityConcave(n, "log1p"),
        "cardinality-table": ds.CardinalityConcave(n, np.sqrt(np.arange(n + 1))),
        "concave-of": ds.ConcaveOf(ds.Coverage(W > 0.5), "sqrt"),
        "coverage": ds.Coverage(W > 0.5, rng.random(3)),
        "facility": ds.FacilityLocation(W),
        "probabilistic": ds.ProbabilisticCoverage(W, rng.random(3)),
        "cut": ds.Cut(A + A.T),
        "cut-directed": ds.Cut(A, directed=True),
        "pairwise": ds.Pairwise(rng.normal(size=(n, n)), rng.normal(size=n), 3.0),
        "entropy": ds.Entropy(X),
        "conditional-entropy": ds.ConditionalEntropy(X, y),
        "information": ds.MutualInformation(X),
        "information-given": ds.MutualInformation(X, given=y),
        "information-class": ds.MutualInformation(X, y),
        "logdet": ds.LogDet(W.T @ W),
        "gaussian": ds.GaussianEntropy(W.T @ W + np.eye(n)),
        "nuclear": ds.NuclearNorm(W),
        "partition": ds.MatroidRank.partition(rng.integers(0, 3, n), [1, 2, 0]),
        "graphic": ds.MatroidRank.graphic(rng.integers(0, 4, (n, 2)), 4),
        "least-squares": ds.LeastSquares(rng.normal(size=(12, n)), rng.normal(size=12), 0.1),
        "table": ds.Table(rng.normal(size=1 << n)),
    }
    f = functions["facility"]
    functions["restricted"] = functions["entropy"].restrict([1], [0, 1, 3, 4])
    functions["complement"] = f.complement()
    functions["relabelled"] = f.relabel([4, 2, 0, 1, 3])
    functions["declared"] = functions["pairwise"].declare(submodular=None, integral=False)
    functions["difference"] = 2 * f + functions["sqrt"] - functions["coverage"] - functions["modular"]
    constraints = [
        ds.Cardinality(1, 4),
        ds.Knapsack(np.arange(1.0, n + 1), 9.0),
        ds.Include([2]),
        ds.Exclude([0]),
        ds.Partition([0, 0, 1, 1, 1], [2, 2]),
        ds.LinearConstraint(np.ones((1, n)), hi=3),
    ]
    found: dict[str, tuple[Any, list[Any]]] = {name: (function, []) for name, function in functions.items()}
    return found | {"constrained": (functions["difference"], constraints)}


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """A file with one to three mistakes, of a kind that its format can have."""
    by_field = of_archive if data[:2] == b"PK" else of_json if data[:1] == b"{" else of_words
    for _ in range(rng.integers(1, 4) if rng.random() < 0.5 else 1):
        change: Callable[[bytes, np.random.Generator], bytes] = of_bytes if rng.random() < 0.2 else by_field
        try:
            data = change(data, rng)
        except Exception:  # it is no longer what it was
            data = of_bytes(data, rng)
    return data


def of_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, dropped, repeated or put in, or the end cut off."""
    at, length = int(rng.integers(0, len(data) + 1)), int(rng.integers(1, 9))
    noise = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
    changes = [
        data[:at] + noise + data[at + length :],
        data[:at] + data[at + length :],
        data[:at] + noise + data[at:],
        data[: at + length] + data[at:],
        data[:at],
    ]
    return changes[rng.integers(len(changes))]


def of_words(data: bytes, rng: np.random.Generator) -> bytes:
    """One word of a text file in another's place, or a line dropped or repeated."""
    lines = data.decode(errors="replace").split("\n")
    row = int(rng.integers(len(lines)))
    words = lines[row].split(" ")
    if rng.random() < 0.2:
        lines[row : row + 1] = [] if rng.random() < 0.5 else [lines[row]] * 2
    else:
        words[rng.integers(len(words))] = str(rng.choice(WORDS))
        lines[row] = " ".join(words)
    return "\n".join(lines).encode()


def of_json(data: bytes, rng: np.random.Generator) -> bytes:
    """One field of JSON text changed."""
    document = json.loads(data)
    change_field(document, rng)
    return json.dumps(document).encode()


def change_field(document: Any, rng: np.random.Generator) -> None:
    """One field in another's place, dropped, renamed, or nested in itself."""
    places = list(fields(document))
    parent, key = places[rng.integers(len(places))]
    draw = rng.random()
    if isinstance(parent[key], (int, float)) and rng.random() < 0.7:
        parent[key] = NUMBERS[rng.integers(len(NUMBERS))]
    elif draw < 0.7:
        parent[key] = VALUES[rng.integers(len(VALUES))]
    elif draw < 0.8:
        other, its_key = places[rng.integers(len(places))]
        parent[key] = json.loads(json.dumps(other[its_key]))
    elif draw < 0.9 and isinstance(parent, list):
        parent.append(parent[key])
    elif draw < 0.95:
        parent[key] = [parent[key]]
    else:
        del parent[key]


def fields(value: Any) -> Any:
    """Every place of a document that can be changed, as a container and a key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from fields(value[key])


def of_archive(data: bytes, rng: np.random.Generator) -> bytes:
    """One array of an npz file changed: its type, its shape, its entries, its head; or the JSON text."""
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    name = str(rng.choice(list(arrays)))
    blocks: dict[str, bytes] = {}
    if name == "header":
        text = of_json(arrays["header"].tobytes(), rng)
        arrays["header"] = np.frombuffer(text, dtype=np.uint8)
    elif rng.random() < 0.3:
        blocks[name] = with_other_head(arrays[name], rng)
    else:
        arrays[name] = other_array(arrays[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            archive.writestr(f"{key}.npy", blocks.get(key, npy(array)))
    return packed.getvalue()


def npy(array: np.ndarray) -> bytes:
    """An array as an npy file."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return file.getvalue()


def with_other_head(array: np.ndarray, rng: np.random.Generator) -> bytes:
    """The bytes of an array under a head that says something else."""
    shapes = [(10**10,), (), (0,), (-1,), (len(array.ravel()), 1), array.shape[::-1], (2**40, 2**40)]
    types = ["<f8", "<i8", "<f2", ">f8", "|b1", "<U500000000", "|O", "|V8", "<c16", "<M8[s]"]
    file = io.BytesIO()
    head = {"descr": str(rng.choice(types)), "fortran_order": bool(rng.random() < 0.5)}
    np.lib.format.write_array_header_1_0(file, head | {"shape": shapes[rng.integers(len(shapes))]})
    return file.getvalue() + array.tobytes()


def other_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array of another shape or type, or with another entry."""
    draw = int(rng.integers(6))
    if draw == 0:
        return array.T[::-1].copy(order="F")
    if draw == 1:
        return array.ravel()
    if draw == 2:
        return array[:0]
    if draw == 3:
        with np.errstate(all="ignore"):
            return array.astype(str(rng.choice(["<f8", "<i8", "|i1", ">f4", "|b1", "<U3"])))
    if draw == 4:
        return np.repeat(array[None], 2, axis=0)
    changed, numbers = array.astype(float), [np.nan, np.inf, 1e308, -1e308, 2.0**62, -1, 1e12, 0.5]
    changed.flat[rng.integers(max(1, changed.size))] = rng.choice(numbers)
    whole = rng.random() < 0.5 and np.isfinite(changed).all()
    return changed.clip(-1e18, 1e18).astype(np.int64) if whole else changed


class Reader:
    """A process that reads files, started again after each that it does not survive."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> tuple[str, str]:
        """What became of a file: refused, accepted, or what is wrong."""
        if self.process is None:
            command = [sys.executable, "-m", "fuzz.files", "worker"]
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
    if abs(chain.sum() - (probes[1] - probes[0])) > 1e-6 * size:
        raise ArithmeticError("a chain does not add up to f(V) - f(∅)")
    if f.n <= SMALL:
        try:
            ds.minimize(problem, time_limit=5.0)
        except (ValueError, TypeError) as error:
            if memory_ran_out(error) or "\n" in str(error):
                raise


if __name__ == "__main__":
    if sys.argv[1:] == ["worker"]:
        worker()
    else:
        for finding in fuzz_files(*(float(word) if "." in word else int(word) for word in sys.argv[1:])):
            print(f"{finding.kind:12} {finding.path.name}\n             {finding.detail}")
