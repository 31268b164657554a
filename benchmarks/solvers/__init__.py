"""Solvers, one to a file: ``NAME``, ``LARGEST`` size to try, and ``SOLVER``."""
