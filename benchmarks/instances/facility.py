from dsprog.generators import facility_difference as build  # noqa: F401

NAME = "facility"
SIZES = (10, 14, 18)
