"""Energies from what users have; they live with the other functions, in :mod:`dsprog.functions.energies`."""

from dsprog.functions.energies import as_adjacency, ising, max_cut, qubo

__all__ = ["as_adjacency", "ising", "max_cut", "qubo"]
