"""Counts of what was covered and what failed."""

from __future__ import annotations

from collections import Counter

from fuzz.cases import Case
from fuzz.worker import Outcome


class Tally:
    """Cases, killed runs, and findings."""

    def __init__(self) -> None:
        self.cases = self.kills = 0
        self.covered: Counter[tuple[str, str]] = Counter()
        self.constraints: Counter[tuple[str, str]] = Counter()
        self.ended: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.failures: list[tuple[str, str]] = []

    def add(self, case: Case, outcome: Outcome) -> None:
        """Count a case."""
        self.cases += 1
        self.ended[outcome.ended] += 1
        self.covered.update((family, case.solver_name) for family in case.families)
        rows = {term.kind for term in case.constraints} or {"no constraints"}
        self.constraints.update((kind, case.solver_name) for kind in rows | {f"plan: {case.plan}"})

    def line(self) -> str:
        """All counts."""
        skipped = "".join(f", {count} skipped without {name}" for name, count in sorted(self.skipped.items()))
        return f"{self.cases} cases, {self.kills} killed runs, {len(self.failures)} findings{skipped}"


def table(counts: Counter[tuple[str, str]]) -> str:
    """Rows and columns of counts."""
    columns = sorted({column for _, column in counts})
    lines = [" " * 22 + " ".join(f"{column[:9]:>9}" for column in columns)]
    for row in sorted({row for row, _ in counts}):
        lines.append(f"{row:22}" + " ".join(f"{counts[row, column]:9}" for column in columns))
    return "\n".join(lines)
