"""`dsprog warmup` compiles what later runs need."""

import os
import subprocess
import sys

import pytest

COUNTED = """
from benchmarks.first_use import PATHS
from dsprog.core.kernel import watch

missing = {}
for path, run in PATHS.items():
    names = missing[path] = []
    with watch(names.append):
        run()
found = {path: names for path, names in missing.items() if names}
assert not found, found
"""


@pytest.mark.slow
def test_nothing_is_left_to_compile_after_it(tmp_path):
    environment = {**os.environ, "DSPROG_CACHE_DIR": str(tmp_path)}

    def run(*command):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "kernels compiled" in run("-m", "dsprog", "warmup")
    assert "there already" in run("-m", "dsprog", "warmup")
    run("-c", COUNTED)
