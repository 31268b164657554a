"""Whether a function enters a compact model by columns of its own; how it does is its family's to say."""

from __future__ import annotations

from dsprog.core.set_function import SetFunction


def has_model(h: SetFunction) -> bool:
    """Whether a function enters by columns of its own rather than by cuts of the whole."""
    return h.has_columns
