"""Settings for all tests."""

import signal

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.helpers")  # their failed assertions show values, as those of tests do

from tests.helpers.clock import Clock  # noqa: E402

# A kernel's first call compiles it, so the first example may take seconds.
settings.register_profile("dsprog", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("dsprog")

# A shell that starts the tests in the background makes them ignore Ctrl-C, which some of them send to themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def clock(monkeypatch):
    """Time that passes in runs, checkpoints and compilation only as the test says."""
    clock = Clock()
    for module in ("dsprog.run.clock", "dsprog.run.checkpoint", "dsprog.core.kernel"):
        monkeypatch.setattr(f"{module}.time", clock)
    return clock
