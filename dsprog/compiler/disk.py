"""Machine code on disk: one file for each kernel, kinds of arguments, and processor.

A file is named by everything that its code depends on, and begins with a digest of the rest, so that what is damaged is
not run. It lies in the folder that ``DSPROG_CACHE_DIR`` names, or beside the module, or with the user's other caches.
Whoever can write to one of these folders can have code run, as with Python's own ``__pycache__``.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

SEAL = 32  # bytes of a digest


@functools.cache
def fingerprint() -> bytes:
    """Of this compiler, and of what it is told to look for."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    settings = os.environ.get("DSPROG_CHECK_INDICES", "")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files) + settings.encode()).digest()


def folders_of(module: Path) -> list[Path]:
    """Where code of a module may be kept, the best first."""
    if chosen := os.environ.get("DSPROG_CACHE_DIR"):
        return [Path(chosen)]
    beside = [module.parent / "__pycache__"] if module.is_file() else []  # a cell of a notebook has no file
    home = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    with suppress(RuntimeError):  # of somebody without a home
        return [*beside, Path(home or Path.home() / ".cache") / "dsprog"]
    return beside


def read(name: str, module: Path) -> bytes | None:
    """The code of a name, if there is a file that is whole."""
    for folder in folders_of(module):
        with suppress(OSError):
            content = (folder / name).read_bytes()
            code = content[SEAL:]
            if hashlib.sha256(code).digest() == content[:SEAL]:
                return code
    return None


def write(name: str, code: bytes, module: Path) -> None:
    """Keep code in the first folder that takes it; without a disk there is just no file."""
    for folder in folders_of(module):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            put(folder / name, hashlib.sha256(code).digest() + code)
            clear(folder, name, module)
            return


def put(file: Path, content: bytes) -> None:
    """All of a file, or nothing of it; others may read it as they may read other files."""
    beside = f"{file}.{os.urandom(6).hex()}"
    try:
        with open(beside, "xb") as stream:
            stream.write(content)
        os.replace(beside, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def clear(folder: Path, name: str, module: Path) -> None:
    """What is older than its module goes."""
    with suppress(OSError):
        changed = module.stat().st_mtime
        for other in folder.glob(f"{glob.escape(name.rpartition('-')[0])}-*"):
            if other.stat().st_mtime < changed:
                other.unlink()


def name_of(*parts: bytes) -> str:
    """A name from all that code depends on."""
    versions = f"{np.__version__} {sys.implementation.cache_tag} {object.__basicsize__}"
    return hashlib.sha256(b"\0".join([fingerprint(), versions.encode(), *parts])).hexdigest()[:32]
