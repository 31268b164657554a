"""Experiments, one to a file: rows first, drawing after."""
