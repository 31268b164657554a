"""``python -m fuzz --minutes 10 --seed 0``: random cases, killed runs and mutated files, against what must hold."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections import Counter
from pathlib import Path

from fuzz.cases import Case
from fuzz.generators import random_case
from fuzz.kills import check_kills
from fuzz.worker import Outcome, Worker

FOUND = Path(__file__).parent / "found"
KILLS_EVERY = 100  # cases


class Tally:
    """Counts of what was covered and what failed."""

    def __init__(self) -> None:
        self.cases = self.kills = 0
        self.covered: Counter[tuple[str, str]] = Counter()
        self.constraints: Counter[tuple[str, str]] = Counter()
        self.ended: Counter[str] = Counter()
        self.failures: list[tuple[str, str]] = []

    def add(self, case: Case, outcome: Outcome) -> None:
        """Count a case."""
        self.cases += 1
        self.ended[outcome.ended] += 1
        self.covered.update((family, case.solver_name) for family in case.families)
        rows = {term.kind for term in case.constraints} or {"no constraints"}
        self.constraints.update((kind, case.solver_name) for kind in rows | {f"plan: {case.plan}"})

    def line(self) -> str:
        """The live count."""
        return f"{self.cases} cases, {self.kills} killed runs, {len(self.failures)} failures"


def table(counts: Counter[tuple[str, str]]) -> str:
    """Rows and columns of counts."""
    columns = sorted({column for _, column in counts})
    lines = [" " * 22 + " ".join(f"{column[:9]:>9}" for column in columns)]
    for row in sorted({row for row, _ in counts}):
        lines.append(f"{row:22}" + " ".join(f"{counts[row, column]:9}" for column in columns))
    return "\n".join(lines)


def save(name: str, text: str) -> str:
    """Write a reproducer; its path."""
    FOUND.mkdir(exist_ok=True)
    path = FOUND / f"{name}.py"
    path.write_text(text)
    return str(path)


def fuzz_cases(seed: int, minutes: float, tally: Tally, first: int = 0, most: int | None = None) -> None:
    """Cases one after another, a killed run now and then."""
    worker, end, index = Worker(), time.monotonic() + 60 * minutes, first
    while time.monotonic() < end and (most is None or index < first + most):
        case, outcome = random_case(seed, index), worker.check(seed, index)
        tally.add(case, outcome)
        if outcome.failures:
            path = save(f"case_{seed}_{index}", (outcome.smaller or case).script(outcome.failures))
            tally.failures.append((path, outcome.failures[0]))
        if index % KILLS_EVERY == KILLS_EVERY - 1:
            fuzz_kill(seed + index, tally)
        print(f"\r{tally.line()}", end="", file=sys.stderr, flush=True)
        index += 1
    worker.close()


def fuzz_kill(seed: int, tally: Tally) -> None:
    """One problem killed and resumed."""
    failures = check_kills(seed)
    tally.kills += 1
    if failures:
        text = f"# {failures}\nfrom fuzz.kills import check_kills\n\nprint(check_kills({seed}))\n"
        tally.failures.append((save(f"kill_{seed}", text), failures[0]))


def fuzz_files(seed: int, minutes: float, tally: Tally) -> None:
    """Mutated files, where that part is there."""
    if importlib.util.find_spec("fuzz.files") is not None:
        from fuzz.files import fuzz_files as part

        tally.failures += [(str(failure), "files") for failure in part(seed, minutes) or []]


def main() -> int:
    """All parts, and the table at the end."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--cases", type=int, default=None, help="stop after so many")
    asked = parser.parse_args()
    tally = Tally()
    fuzz_cases(asked.seed, 0.8 * asked.minutes, tally, asked.first, asked.cases)
    fuzz_files(asked.seed, 0.2 * asked.minutes, tally)
    print(f"\n\n{table(tally.covered)}\n\n{table(tally.constraints)}\n\n{dict(tally.ended)}\n\n{tally.line()}")
    for path, failure in tally.failures:
        print(f"{path}: {failure}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
