"""Recipes that turn data into problems."""

from dsprog.applications.explaining_away import explaining_away

__all__ = ["explaining_away"]
