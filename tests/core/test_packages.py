"""Packages are loaded whole, whatever signals come meanwhile."""

import signal
import subprocess
import sys

import pytest

from dsprog.core.packages import importable, load

SLOW = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
whole = True
"""


@pytest.fixture
def interrupted_module(tmp_path, monkeypatch):
    """The name of a module that is interrupted half way through its loading."""
    (tmp_path / "interrupted_half_way.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield "interrupted_half_way"
    signal.signal(signal.SIGINT, before)
    sys.modules.pop("interrupted_half_way", None)


@pytest.mark.parametrize("ask", [load, importable])
def test_an_interrupt_is_told_when_the_module_is_whole(interrupted_module, ask):
    with pytest.raises(KeyboardInterrupt):
        ask(interrupted_module)
    assert sys.modules[interrupted_module].whole


def test_what_is_not_installed_is_not_importable():
    assert importable("json")
    assert not importable("a_module_that_nobody_wrote")


LOADING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "dsprog.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
import dsprog_command
sys.argv = ["dsprog", "--version"]
dsprog_command.main()
"""


def test_the_command_that_is_interrupted_while_it_loads_says_so_in_a_word():
    ended = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "Aborted!\n")
