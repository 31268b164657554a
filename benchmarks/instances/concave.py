from dsprog.generators import concave_difference as build  # noqa: F401

NAME = "concave"
SIZES = (10, 14, 18)
