"""Choosing within a budget: a compiled depth-first search on gains."""
