"""Machine code on disk: one file for each kernel, kinds of arguments, and processor.

A file is named by everything that its code depends on, and begins with a digest of the rest, so that what is damaged is
not run. It lies in the folder that ``DSPROG_CACHE_DIR`` names, or beside the module, or with the user's other caches.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
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


def folder_of(module: Path) -> Path:
    """Where code of a module is kept."""
    if chosen := os.environ.get("DSPROG_CACHE_DIR"):
        return Path(chosen)
    beside = module.parent / "__pycache__"
    if os.access(beside if beside.is_dir() else module.parent, os.W_OK):
        return beside
    home = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dsprog"


def read(file: Path) -> bytes | None:
    """The code in a file, if it is whole."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    code = content[SEAL:]
    return code if hashlib.sha256(code).digest() == content[:SEAL] else None


def write(file: Path, code: bytes, module: Path) -> None:
    """Keep code, at once or not at all; what is older than its module goes. Without a disk there is just no file."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(hashlib.sha256(code).digest() + code)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise
        kernel, _, _ = file.name.rpartition("-")
        for other in file.parent.glob(f"{kernel}-*{file.suffix}"):
            if other.stat().st_mtime < module.stat().st_mtime:
                other.unlink()


def name_of(*parts: bytes) -> str:
    """A name from all that code depends on."""
    return hashlib.sha256(b"\0".join([fingerprint(), np.__version__.encode(), *parts])).hexdigest()[:32]
