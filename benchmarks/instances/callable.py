"""Family F: family A through plain Python callables."""

from dsprog.generators import plain_callable as build  # noqa: F401

NAME = "F callable"
SIZES = (10, 15, 20, 24)
