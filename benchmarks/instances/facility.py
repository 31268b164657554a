"""Family C: facility location minus facility location."""

from dsprog.generators import facility_difference as build  # noqa: F401

NAME = "C facility"
SIZES = (10, 15, 20, 30, 50, 70, 100)
