"""The objective as one mixed-integer programme, or bounded by thresholds, for large problems with structure."""

from dsprog.exact.compact.box_search import export

__all__ = ["export"]
