"""``python -m fuzz --minutes 10 --seed 0``: random cases, killed runs and mutated files, against what must hold.

``python -m fuzz --cases 10000 --kills 200 --jobs 16`` does a fixed number of cases and killed runs in so many processes
at once; which ones these are depends on the seed alone. The last line counts them, and the exit code is 1 if anything
was found. A case that needs a package which is not installed is skipped, and the last line says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import sys
from pathlib import Path

from fuzz.campaign import KILLS_EVERY, Campaign, tasks
from fuzz.tally import Tally, table

FOUND = Path(__file__).parent / "found"


def fuzz_files(seed: int, minutes: float, tally: Tally) -> None:
    """Mutated files, where that part is there."""
    if minutes > 0 and importlib.util.find_spec("fuzz.files") is not None:
        from fuzz.files import fuzz_files as part

        tally.failures += [(str(failure), "files") for failure in part(seed, minutes) or []]


def main() -> int:
    """All parts, and the table at the end."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=None, help="10, or no limit if a number of cases is asked for")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--cases", type=int, default=None, help="so many, then stop")
    parser.add_argument("--kills", type=int, default=None, help="killed runs; one in a hundred cases by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    asked = parser.parse_args()
    fixed = asked.cases is not None or asked.kills is not None
    minutes = asked.minutes if asked.minutes is not None else math.inf if fixed else 10.0
    cases = asked.cases if fixed else None
    kills = asked.kills if asked.kills is not None else None if cases is None else cases // KILLS_EVERY
    if asked.jobs > 1:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    tally = Tally()
    campaign = Campaign(tally, FOUND, 0.8 * minutes)
    campaign.run(tasks(asked.seed, asked.first, 0 if fixed and cases is None else cases, kills), asked.jobs)
    fuzz_files(asked.seed, 0.2 * minutes if math.isfinite(minutes) else 0.0, tally)
    print(f"\n\n{table(tally.covered)}\n\n{table(tally.constraints)}\n\n{dict(tally.ended)}\n")
    for path, failure in tally.failures:
        print(f"{path}: {failure}")
    print(tally.line())
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
