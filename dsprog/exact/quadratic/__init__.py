"""Quadratic functions of 0/1 variables: energies, QUBO, max-cut."""
