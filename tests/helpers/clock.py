"""A clock that tests wind, so that time limits and turns end where the test says, on any machine."""


class Clock:
    """In place of the module ``time`` where a run reads it: seconds pass when told, and ``tick`` with every reading."""

    def __init__(self):
        self.now, self.tick = 0.0, 0.0

    def perf_counter(self):
        """The time; afterwards it is later by a tick."""
        self.now += self.tick
        return self.now

    process_time = perf_counter

    def advance(self, seconds):
        """Let time pass."""
        self.now += seconds
