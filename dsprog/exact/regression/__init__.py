"""Least squares with a submodular penalty: perspective bounds and coefficient boxes."""
