"""Solvers, one to a file."""
