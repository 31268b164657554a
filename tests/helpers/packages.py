"""Packages and data that may be missing, and making packages missing."""

import importlib
import textwrap
from pathlib import Path

import pytest

from dsprog import milp
from dsprog.experiments.data_folder import data_folder

SHIPPED = Path(__file__).parents[1] / "data"  # two small published instances
needs_scip = pytest.mark.skipif(not milp.importable("scip"), reason="no pyscipopt")
BACKENDS = ["highs", "scipy", pytest.param("scip", marks=needs_scip)]  # of programmes


def needs_data(*parts):
    """Skip tests of published data where a file or folder of them is not at hand."""
    path = data_folder().joinpath(*parts)
    return pytest.mark.skipif(not path.exists(), reason=f"no {path}: set DSPROG_DATA to the folder of published data")


def without(monkeypatch, package):
    """Make a package impossible to import by name."""
    real = importlib.import_module

    def refuse(name, *rest):
        if name == package:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", refuse)


def blocking(packages, code):
    """Code for another process in which packages cannot be imported in any way."""
    return textwrap.dedent(f"""
        import sys

        class Refuse:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in {set(packages)!r}:
                    raise ImportError(name + " is blocked")

        sys.meta_path.insert(0, Refuse())
        """) + textwrap.dedent(code)
