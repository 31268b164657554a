"""Packages that may be missing."""

from __future__ import annotations

import importlib


def importable(module: str) -> bool:
    """Whether a module is installed and loads; asked when it is needed, never at import."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
