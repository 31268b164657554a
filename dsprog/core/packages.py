"""Packages that may be missing, or that take a while to load."""

from __future__ import annotations

import importlib
from types import ModuleType

from dsprog.core.deferred_signals import signals_deferred


def load(module: str) -> ModuleType:
    """Import a module whole: a Ctrl-C meanwhile is told at its end.

    Extension modules that are interrupted while they load say that they cannot be imported, and one that has been
    half loaded may not load again.
    """
    with signals_deferred():
        return importlib.import_module(module)


def importable(module: str) -> bool:
    """Whether a module is installed and loads; asked when it is needed, never at import."""
    try:
        load(module)
    except ImportError:
        return False
    return True
