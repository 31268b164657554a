"""Settings for all tests."""

from hypothesis import settings

# A kernel's first call compiles it, so the first example may take seconds.
settings.register_profile("dsprog", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("dsprog")
