"""Workers that join at once and get small units, so that small instances meet every way of sharing."""

import contextlib
import math
import pickle
import random
import time

import dsprog.run.workers.crew as crew
import dsprog.run.workers.supervisor as supervisor
from dsprog.run.workers.executor import Done, Executor, Lost
from dsprog.run.workers.link import Link


@contextlib.contextmanager
def eager(monkeypatch, unit=0.02):
    """A block in which every search is handed over before its first step, in units of some hundredths of a second."""
    there = crew.Crew._are_there

    def wait(self):
        known = self._serving is not None and self._serving is self._candidate and not self._refused
        until = time.perf_counter() + 120.0
        while known and self.executor.ready < self.executor.size:
            assert time.perf_counter() < until, "workers that are to be there do not come"
            time.sleep(0.01)
        return there(self)

    with monkeypatch.context() as patched:
        patched.setattr(crew, "PATIENCE", 0.0)
        patched.setattr(crew.Crew, "_are_there", wait)
        patched.setattr(supervisor, "SECONDS_OF_A_UNIT", unit)
        patched.setattr(supervisor, "SECONDS_OF_THE_FIRST", unit / 4)
        yield


class QuietLink(Link):
    """A worker that hears nothing."""

    def cutoff(self):
        return math.inf

    def recalled(self):
        return False

    def stopped(self):
        return False

    def report(self, masks, values, lower=-math.inf):
        pass


class Scripted(Executor):
    """Workers in this process, whose fate ``fate(unit, rng)`` decides: "answer", "lose", "twice" or "late"."""

    def __init__(self, size, fate, seed=0):
        self.size, self.fate, self.rng = size, fate, random.Random(seed)
        self.units, self.late, self.lost, self.doubled = {}, [], 0, 0

    def start(self, job):
        self.desk = pickle.loads(pickle.dumps(job)).desk(QuietLink())

    @property
    def ready(self):
        return self.size

    @property
    def free(self):
        return self.size - len(self.units)

    def submit(self, number, unit):
        assert self.free > 0
        self.units[number] = pickle.loads(pickle.dumps(unit))

    def poll(self, seconds):
        late, self.late = self.late, []
        if not self.units:
            return late
        number = self.rng.choice(sorted(self.units))
        unit = self.units.pop(number)
        fate = self.fate(unit, self.rng)
        if fate == "lose":
            self.lost += 1
            return [*late, Lost(number, "somebody died")]
        done = Done(number, self.desk.work(number, unit), f"worker {self.rng.randrange(self.size)}")
        if fate == "twice":
            self.doubled += 1
            self.late.append(done)
        if fate == "late":  # lost, and answered after all
            self.lost += 1
            self.late.append(done)
            return [*late, Lost(number, "it did not answer")]
        return [*late, done]

    def tell_cutoff(self, cutoff):
        pass

    def recall(self, number):
        pass

    def stop(self):
        pass

    def replace(self, number):
        pass

    def close(self):
        pass
