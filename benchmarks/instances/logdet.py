from dsprog.generators import logdet_difference as build  # noqa: F401

NAME = "logdet"
SIZES = (10, 14, 18)
