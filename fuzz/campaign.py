"""Cases and killed runs one after another, or several at once; each job drives a process of its own."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzz.generators import random_case
from fuzz.kills import check_kills
from fuzz.tally import Tally
from fuzz.worker import Worker

KILLS_EVERY = 100  # cases, where no number of kills is given
Task = tuple[str, int, int]  # "case" or "kill", a seed, the number of a case


def tasks(seed: int, first: int, cases: int | None, kills: int | None) -> Iterator[Task]:
    """Cases from the first one on, without end if no number is given, and kills spread among them."""
    total = kills if kills is not None else 0
    done = 0
    for k in itertools.count() if cases is None else range(cases):
        yield "case", seed, first + k
        due = (k + 1) // KILLS_EVERY if cases is None else total * (k + 1) // cases
        for _ in range(due - done):
            yield "kill", seed + first + done, 0
            done += 1
    for k in range(done, total):
        yield "kill", seed + first + k, 0


class Campaign:
    """Hands out tasks to jobs, and keeps the reproducers of what they find in a folder."""

    def __init__(self, tally: Tally, folder: Path, minutes: float) -> None:
        self.tally, self.folder, self.end = tally, folder, time.monotonic() + 60 * minutes
        self.lock = threading.Lock()

    def run(self, todo: Iterator[Task], jobs: int = 1) -> None:
        """All tasks, or those that there is time for."""
        with ThreadPoolExecutor(jobs) as pool:
            for job in [pool.submit(self._work, todo) for _ in range(jobs)]:
                job.result()

    def _work(self, todo: Iterator[Task]) -> None:
        worker = Worker()
        while time.monotonic() < self.end:
            with self.lock:
                task = next(todo, None)
            if task is None:
                break
            kind, seed, index = task
            if kind == "case":
                self._case(worker, seed, index)
            else:
                self._kill(seed)
            print(f"\r{self.tally.line()}", end="", file=sys.stderr, flush=True)
        worker.close()

    def _case(self, worker: Worker, seed: int, index: int) -> None:
        case = random_case(seed, index)
        if case.missing:
            with self.lock:
                self.tally.skipped[case.missing] += 1
            return
        outcome = worker.check(seed, index)
        with self.lock:
            self.tally.add(case, outcome)
            if outcome.failures:
                text = (outcome.smaller or case).script(outcome.failures)
                self.tally.failures.append((self._keep(f"case_{seed}_{index}", text), outcome.failures[0]))

    def _kill(self, seed: int) -> None:
        failures = check_kills(seed)
        with self.lock:
            self.tally.kills += 1
            if failures:
                text = f"# {failures}\nfrom fuzz.kills import check_kills\n\nprint(check_kills({seed}))\n"
                self.tally.failures.append((self._keep(f"kill_{seed}", text), failures[0]))

    def _keep(self, name: str, text: str) -> str:
        """Write a reproducer; its path."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{name}.py"
        path.write_text(text)
        return str(path)
