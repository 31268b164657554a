"""Submodular minimisation, exact and with a certificate."""

from dsprog.submodular.minimum import SubmodularMinimum, minimize_submodular

__all__ = ["SubmodularMinimum", "minimize_submodular"]
