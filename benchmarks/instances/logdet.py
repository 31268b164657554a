"""Family D: log det minus log det, kernels of rank n/2."""

from dsprog.generators import logdet_difference as build  # noqa: F401

NAME = "D logdet"
SIZES = (10, 15, 20, 24, 28, 32, 36)
