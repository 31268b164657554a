"""Energies from what users have; they live with the other functions, in :mod:`dsprog.functions.quadratic_energies`."""

from dsprog.functions.quadratic_energies import as_adjacency, ising, max_cut, qubo

__all__ = ["as_adjacency", "ising", "max_cut", "qubo"]
