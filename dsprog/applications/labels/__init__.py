"""Energies over many labels: fusion moves for labellings, dual sweeps for bounds, and an exact end."""
