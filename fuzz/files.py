"""Files from strangers, by the thousand: valid instances of every family and format, mutated, read in a process apart.

A worker process with a memory limit reads one file after another and says what became of it; the parent watches its
clock. A file must be refused by ValueError or TypeError, or give a function whose values, marginals, chains and
minimum can be computed. Everything else is a finding: a crash, a hang, a memory blow-up, another kind of traceback, an
accepted file whose function breaks.

    python -m fuzz.files 0 2        # seed 0, two minutes

The files behind findings are kept in a folder, whose name is printed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fuzz.mutations import mutated
from fuzz.reader import Reader
from fuzz.valid_files import valid_files


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


if __name__ == "__main__":
    for finding in fuzz_files(*(float(word) if "." in word else int(word) for word in sys.argv[1:])):
        print(f"{finding.kind:12} {finding.path.name}\n             {finding.detail}")
