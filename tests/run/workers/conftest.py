"""Two processes for all tests of workers: starting one takes a second."""

import pytest

from dsprog.run.workers.local import LocalProcesses


@pytest.fixture(scope="session")
def two():
    with LocalProcesses(2) as processes:
        yield processes
