"""Family A: sums of square roots over 2n groups, with a modular term."""

from dsprog.generators import concave_difference as build  # noqa: F401

NAME = "A concave"
SIZES = (10, 15, 20, 30, 40, 50, 60)
