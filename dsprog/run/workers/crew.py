"""The workers of a call: what the user asked for, started when a search lasts, and what each of them did."""

from __future__ import annotations

import concurrent.futures
import os
import pickle
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dsprog.core.problem import Problem
from dsprog.run.driver import take
from dsprog.run.result import Staff, WorkerShare
from dsprog.run.workers.executor import Executor, WorkersGone
from dsprog.run.workers.packing import packed
from dsprog.run.workers.supervisor import Supervisor
from dsprog.run.workers.unit import SearchJob, UnitAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsprog.run.driver import Search
    from dsprog.run.run import Run
    from dsprog.run.workers.whole_solves import Ended, Hear, Task

PATIENCE = 0.3  # seconds of a search before workers are started for it
WARM_PATIENCE = 0.02  # if they are there already


@dataclass
class Account:
    """What one worker did."""

    nodes: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    units: int = 0


@dataclass
class Crew:
    """Workers that join a search once it has lasted a while, and stay for those after it.

    Problems that are solved in a moment never meet them: starting a process takes about a second, in which the search
    goes on alone.
    """

    executor: Executor
    owned: bool = True  # whether the executor ends with this call
    lost: int = 0  # leases
    joined: float | None = None  # when the first search was shared
    away: float = 0.0  # seconds since then in which none was
    _left: float = 0.0
    _accounts: dict[str, Account] = field(default_factory=dict)
    _spent: list[tuple[float, int]] = field(default_factory=list)  # for each unit its bound and its nodes
    _refused: bool = False
    _candidate: Search | None = None  # the search that goes on
    _serving: Search | None = None  # the search that the workers know

    def joins(self, search: Search) -> bool:
        """Whether a search is to be handed over now; starts the workers if it has lasted long enough."""
        self._candidate = search
        try:
            if self._is_due():
                self._begin(search)
            return self._are_there()
        except (WorkersGone, AssertionError, OSError) as error:
            self._refuse(search, f"no workers, and the search goes on alone: {error}")
            return False

    def called(self) -> bool:
        """For the search that goes on alone: whether workers are to be started, or are there."""
        return self._is_due() or self._are_there()

    def stopped(self) -> bool:
        """A search alone is stopped by its run."""
        return False

    def _is_due(self) -> bool:
        search = self._candidate
        if search is None or search is self._serving or self._refused:
            return False
        patience = min(PATIENCE, WARM_PATIENCE) if self.executor.ready == self.executor.size else PATIENCE
        return search.run.seconds - search.began >= patience

    def _are_there(self) -> bool:
        known = self._serving is not None and self._serving is self._candidate and not self._refused
        return known and self.executor.ready >= max(1, self.executor.size // 2)

    def _begin(self, search: Search) -> None:
        recipe, run = search.method.recipe(), search.run
        if recipe is None:
            self._refuse(search, f"{type(search.method).__name__} cannot be shared among workers, and goes on alone")
            return
        self.executor.start(
            SearchJob(
                run.problem,
                recipe,
                search.method.state(),
                run.limits.gap,
                run.best.keeps,
                run.within,
                run.seed,
                packed(take(search.frontier.heap[0][2], slice(0, 1)), search.method.guides),
            )
        )
        self._serving = search

    def _refuse(self, search: Search, sentence: str) -> None:
        self._refused = True
        search.run.say(sentence)

    @property
    def can_take_tasks(self) -> bool:
        """Whether workers are there, or can be."""
        return not self._refused

    def do(self, run: Run, tasks: Sequence[Task], hear: Hear, ended: Ended) -> str | None:
        """Tasks beside each other; why the run stopped, if it did. Without workers nothing is done."""
        from dsprog.run.workers.whole_solves import TaskForce  # it knows solvers, which know runs

        self._arrive(run)
        self._serving = self._candidate = None
        try:
            return TaskForce(run, self, tuple(tasks), hear, ended).go()
        except (WorkersGone, AssertionError, OSError) as error:
            self._refused = True
            run.say(f"no workers, and the run goes on alone: {error}")
            return None
        finally:
            self._left = time.perf_counter()
            run.staff = None

    def _arrive(self, run: Run) -> None:
        now = time.perf_counter()
        if self.joined is None:
            self.joined = now
            run.say(f"{self.executor.size} workers join")
        else:
            self.away += now - self._left

    def go(self, search: Search) -> str | None:
        """Share a search until it ends or is to stop."""
        self._arrive(search.run)
        try:
            return Supervisor(search, self.executor, self).go()
        except WorkersGone as error:
            self._refuse(search, f"no workers are left, and the search goes on alone: {error}")
            return search.go()
        finally:
            self._left = time.perf_counter()
            search.run.staff = None
            search.run.say(self.sentence(search.run.cutoff))

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        """End the workers that were started for this call."""
        if self.owned:
            self.executor.close()

    # -- accounts ---------------------------------------------------------------------------------------------------

    def credit(self, worker: str, answer: UnitAnswer, lower: float) -> None:
        """A unit was done, which began with this bound; infinite if it was done for nothing."""
        account = self._accounts.setdefault(worker, Account())
        account.nodes += answer.nodes
        account.seconds += answer.seconds
        account.cpu += answer.cpu
        account.units += 1
        self._spent.append((lower, answer.nodes))

    def speculative(self, cutoff: float) -> int:
        """Nodes of units that began at a bound which the end of the search would have closed, or were done twice."""
        return sum(nodes for lower, nodes in self._spent if lower >= cutoff)

    def sentence(self, cutoff: float) -> str:
        """For the log: what sharing cost."""
        units, nodes = len(self._spent), sum(nodes for _, nodes in self._spent)
        waste = f"{self.speculative(cutoff):,} speculative"
        return f"workers: {nodes:,} nodes in {units:,} units, {waste}, {self.lost} units lost"

    @property
    def present(self) -> float:
        """Seconds that searches were shared."""
        return 0.0 if self.joined is None else time.perf_counter() - self.joined - self.away

    def staff(self, ready: int) -> Staff:
        """For the log: how many workers, their nodes a second, and which part of the time they worked."""
        nodes = sum(account.nodes for account in self._accounts.values())
        busy = sum(account.seconds for account in self._accounts.values())
        present = max(self.present, 1e-9)
        return Staff(ready, nodes / present, min(1.0, busy / (present * max(1, self.executor.size))))

    def shares(self) -> tuple[WorkerShare, ...]:
        """For the result: what each worker did."""
        present = self._left - self.joined - self.away if self.joined is not None else 0.0
        return tuple(
            WorkerShare(name, who.nodes, who.units, who.seconds, who.cpu, idle(who.seconds, present))
            for name, who in sorted(self._accounts.items())
        )


def idle(busy: float, present: float) -> float:
    """The part of the time without work."""
    return max(0.0, 1.0 - busy / present) if present > 0 else 0.0


def crew_of(workers: Any, problem: Problem) -> Crew | None:
    """The crew that ``workers`` asks for: None for one, processes for a number or "all", or the user's executor."""
    if isinstance(workers, str) and workers == "all":
        workers = os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, int):
        return Crew(*executor_of(workers, problem))
    if workers < 1:
        raise ValueError(f'workers must be at least 1, "all", or an executor, got {workers}')
    if workers == 1:
        return None
    check_travels(problem)
    from dsprog.run.workers.local import LocalProcesses

    return Crew(LocalProcesses(workers))


def executor_of(workers: Any, problem: Problem) -> tuple[Executor, bool]:
    """The user's executor as one of ours, and whether what is around it ends with the call."""
    if isinstance(workers, Executor):
        check_travels(problem)
        return workers, False
    if isinstance(workers, concurrent.futures.Executor):
        from dsprog.run.workers.pool import PoolWorkers

        check_travels(problem)
        return PoolWorkers(workers), True
    if type(workers).__module__.split(".")[0] == "distributed" and hasattr(workers, "nthreads"):
        from dsprog.run.workers.cluster import DaskWorkers

        return DaskWorkers(workers), True
    raise TypeError(
        f'workers must be a number, "all", a concurrent.futures.Executor or a dask.distributed.Client, got {workers!r}'
    )


def check_travels(problem: Problem) -> None:
    """Refuse a problem that cannot be sent to another process, with a sentence that says what to do."""
    try:
        pickle.dumps(problem)
    except Exception as error:
        raise TypeError(
            f"workers must be 1, or the problem one that can be sent to other processes: {error}; define its functions "
            "at the top of a module, or pass a dask.distributed.Client, which sends any function"
        ) from error
