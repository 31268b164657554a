"""Benchmarks are commands that print and save figures, never timed tests."""
