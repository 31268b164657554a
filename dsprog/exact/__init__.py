"""Solvers with a proof; an engine that is more than one file has a folder."""
