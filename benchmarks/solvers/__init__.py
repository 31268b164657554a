"""Solvers, one to a file: ``NAME`` and ``run(objective, time_limit)``, which returns a set and a lower bound."""
