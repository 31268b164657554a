"""Families of set functions, one to a file; import them from :mod:`dsprog`."""
