"""Solvers without a proof: many restarts as one batch."""
