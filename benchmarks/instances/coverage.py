from dsprog.generators import coverage_difference as build  # noqa: F401

NAME = "coverage"
SIZES = (10, 14, 18)
