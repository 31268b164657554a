"""Family B: coverage minus coverage, 3n items of mean degree 4."""

from dsprog.generators import coverage_difference as build  # noqa: F401

NAME = "B coverage"
SIZES = (10, 15, 20, 30, 40, 50, 60)
