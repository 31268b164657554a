"""The supervisor of a shared search: it leases, takes answers, and keeps the run's bound.

It takes over the open nodes of a :class:`~dsprog.run.driver.Search` and gives back what is left, so that whoever asked
for the search sees no difference: the same bound, verdict and checkpoint.

Units are short while there are few open nodes for each worker, so that work spreads quickly, and grow to some two
seconds. When a worker has nothing to do and nothing is open, the unit that began first is called back and shared.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dsprog.core.oracle import count
from dsprog.run.driver import Frontier, Search
from dsprog.run.signals import interruptions_noted
from dsprog.run.workers.executor import Done, Executor, Failed, Lost, News, SetsFound
from dsprog.run.workers.packing import packed, unpacked
from dsprog.run.workers.unit import Unit, UnitAnswer
from dsprog.run.workers.work_ledger import Lease, WorkLedger

if TYPE_CHECKING:
    from dsprog.run.workers.crew import Crew

SECONDS_OF_A_UNIT = 2.0
SECONDS_OF_THE_FIRST = 0.05
PIECES = 8  # open nodes for each worker from which on units are as long as they get
FEWEST = 256  # nodes of a unit, if there are so many: fewer would leave batches half empty
WAIT = 0.05  # seconds for news before limits are looked at again
LAST_WAIT = 0.4  # seconds for the units that were called back at the end
HANGS = 60.0  # seconds beyond its time after which a unit is lost; doubled each time that it was


@dataclass
class Pace:
    """How many nodes a unit gets: twice as many while units end early, never fewer than fill a batch."""

    rows: int = FEWEST

    def learn(self, seconds: float, is_done: bool) -> None:
        """A unit ended after some seconds, with nodes left or without."""
        if is_done and seconds < 0.25 * SECONDS_OF_A_UNIT:
            self.rows = min(2 * self.rows, 1 << 16)
        elif not is_done:
            self.rows = max(FEWEST, self.rows // 2)


@dataclass
class Supervisor:
    """One search and the workers that share it."""

    search: Search
    executor: Executor
    crew: Crew
    ledger: WorkLedger = field(default_factory=WorkLedger)
    pace: Pace = field(default_factory=Pace)
    began: dict[int, float] = field(default_factory=dict)  # lease -> when
    recalled: set[int] = field(default_factory=set)
    told: float = math.inf  # the cutoff that workers know

    def __post_init__(self) -> None:
        self.run, self.method = self.search.run, self.search.method

    def go(self) -> str | None:
        """Until no node is open, or the run says stop and then why."""
        self._take_over()
        link, self.run.link = self.run.link, None
        try:
            with interruptions_noted(self.run):
                reason = self._loop()
                self._gather()
        finally:
            self._give_back()
            self.run.link = link
        return None if self.search.ended else reason

    def _loop(self) -> str | None:
        while True:
            self.run.raise_bound(self._lower)
            reason = self.run.stop_reason()
            self.ledger.close(self.run.cutoff)
            if self.ledger.ended or reason is not None or self.run.turn_is_over:
                return reason
            self._hand_out()
            self._listen(WAIT)
            self._call_for_work()
            self._give_up_on_the_hung()
            self._save()

    # -- nodes out and in -------------------------------------------------------------------------------------------

    def _take_over(self) -> None:
        self.ledger.closed, self.ledger.serial = self.search.closed, self.executor.serial
        for _, _, bundle in sorted(self.search.frontier.heap, key=lambda item: -item[1]):
            self.ledger.enter(packed(bundle, self.method.guides))

    def _give_back(self) -> None:
        """The search has all that is open again, leased or not."""
        frontier = Frontier()
        for bundle in self.ledger.bundles():
            frontier.push(unpacked(bundle))
        self.search.frontier, self.search.closed = frontier, self.ledger.closed
        self.executor.serial = self.ledger.serial

    @property
    def _lower(self) -> float:
        return min(self.ledger.lower, self.run.value) if self.method.valid else -math.inf

    def _hand_out(self) -> None:
        """A lease to every free worker, and nodes that kill workers to nobody else."""
        while (suspect := self.ledger.suspect()) is not None:
            self._expand_here(suspect)
        while self.executor.free:
            lease = self.ledger.lease(min(self.pace.rows, self._share()))
            if lease is None:
                return
            self.began[lease.number] = time.perf_counter()
            self.executor.submit(lease.number, self._unit(lease))

    def _share(self) -> int:
        """What each worker would get of the open nodes; few of them are divided among those that are free now."""
        rows = self.ledger.rows
        return max(math.ceil(rows / self.executor.size), min(FEWEST, math.ceil(rows / self.executor.free)))

    def _unit(self, lease: Lease) -> Unit:
        many = self.ledger.size / (PIECES * self.executor.size)
        seconds = max(SECONDS_OF_THE_FIRST, min(SECONDS_OF_A_UNIT, self.executor.longest) * min(1.0, many))
        nodes = math.ceil(self.run.nodes_left / self.executor.size) if math.isfinite(self.run.nodes_left) else math.inf
        return Unit(lease.bundles, self.run.cutoff, seconds, self.run.seconds_left, nodes)

    def _expand_here(self, lease: Lease) -> None:
        node = f"a node with bound {lease.lower:.9g} (lease {lease.number})"
        self.run.say(f"{node} ended {lease.losses} workers: it is expanded in this process")
        expansion = self.method.expand(unpacked(lease.bundles[0]), self.run.cutoff)
        self.run.offer(expansion.masks, expansion.values, expansion.source)
        left = [packed(bundle, self.method.guides) for bundle in expansion.bundles]
        self.ledger.answer(lease.number, left, expansion.closed)
        self.run.nodes += expansion.nodes

    # -- news -------------------------------------------------------------------------------------------------------

    def _listen(self, seconds: float) -> None:
        for news in self.executor.poll(seconds):
            self._hear(news)
        if self.run.cutoff < self.told:
            self.told = self.run.cutoff
            self.executor.tell_cutoff(self.told)
        self.run.staff = self.crew.staff(self.executor.ready)
        self.run.progress(self.run.nodes, self.ledger.size, "workers")

    def _hear(self, news: News) -> None:
        if isinstance(news, SetsFound):
            self.run.offer(news.masks, news.values, "workers")
        elif isinstance(news, Done):
            self._take(news)
        elif isinstance(news, Lost):
            lease = self.ledger.lose(news.number)
            self._forget(news.number)
            if lease is not None:
                self.crew.lost += 1
                self.run.say(f"{news.why}: its {lease.rows:,} nodes are open again")
        elif isinstance(news, Failed):
            raise news.error

    def _take(self, news: Done) -> None:
        """An answer; the sets of a late one are as good as any."""
        answer, lease = news.answer, self.ledger.leased.get(news.number)
        self.run.offer(answer.masks, answer.values, "workers")
        count(answer.calls)
        if not self.ledger.answer(news.number, answer.bundles, answer.closed) or lease is None:
            self.crew.credit(news.worker, answer, math.inf)
            return
        self.run.nodes += answer.nodes
        self.run.cuts = answer.cuts
        self.method.credit(answer.counts)
        self.crew.credit(news.worker, answer, lease.lower)
        self._learn(news.number, answer)
        self._forget(news.number)

    def _learn(self, number: int, answer: UnitAnswer) -> None:
        if number not in self.recalled:
            self.pace.learn(answer.seconds, not answer.bundles)

    def _forget(self, number: int) -> None:
        self.began.pop(number, None)
        self.recalled.discard(number)

    # -- order ------------------------------------------------------------------------------------------------------

    def _call_for_work(self) -> None:
        """As many units as there are idle workers are to come back, the oldest first."""
        idle = self.executor.free if self.ledger.rows == 0 else 0
        for number in sorted(self.began, key=self.began.__getitem__)[:idle]:
            if number not in self.recalled:
                self.recalled.add(number)
                self.executor.recall(number)

    def _give_up_on_the_hung(self) -> None:
        now = time.perf_counter()
        for number, began in list(self.began.items()):
            lease = self.ledger.leased.get(number)
            if lease is not None and now - began > SECONDS_OF_A_UNIT + HANGS * 2.0**lease.losses:
                self.run.say(f"no answer to lease {number} for {now - began:.0f} s: its worker is replaced")
                self.began[number] = math.inf  # once
                self.executor.replace(number)

    def _gather(self) -> None:
        """Call all units back and wait a moment for them: what does not come is open as it was leased."""
        if self.ledger.leased:
            self.executor.stop()
        until = time.perf_counter() + LAST_WAIT
        while self.ledger.leased and time.perf_counter() < until:
            self._listen(max(0.0, until - time.perf_counter()))
        self.run.raise_bound(self._lower)

    def _save(self) -> None:
        """Keep a checkpoint, if it is time: leases are saved as open bundles."""
        if self.run.checkpoint is not None and self.run.checkpoint.due():
            self._give_back()
            self.search.save()
