"""A fitted network in words: its edges as a networkx graph, its tables with the names of values and classes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from dsprog.applications.tan.columns import Category, Coder
from dsprog.core.validation import Ints

CLASS = "class"


def value_names(coder: Coder) -> list[str]:
    """What each code of a column stands for."""
    gaps = ["missing"] if coder.gaps else []
    if isinstance(coder, Category):
        return [str(value) for value in coder.numbers] + gaps
    edges = [f"{edge:.4g}" for edge in coder.edges]
    if not edges:
        return ["any", *gaps]
    between = [f"{low} to {high}" for low, high in pairwise(edges)]
    return [f"below {edges[0]}", *between, f"from {edges[-1]}", *gaps]


def probabilities(table: Any, coder: Coder, parent: Coder | None, classes: Any, names: tuple[str, str | None]) -> Any:
    """P(x_i | x_parent, c) as a pandas table: a row for each value (of the parent, and) of the attribute.

    A column is a class; the rows of one value of the parent add up to 1 in each. The places for values never seen are
    left out.
    """
    values = value_names(coder)
    columns = pd.Index([str(c) for c in classes], name=CLASS)
    if parent is None:
        return pd.DataFrame(np.exp(table[0, : len(values)]), pd.Index(values, name=names[0]), columns)
    above = value_names(parent)
    shown = np.exp(table[: len(above), : len(values)]).reshape(-1, len(columns))
    return pd.DataFrame(shown, pd.MultiIndex.from_product([above, values], names=[names[1], names[0]]), columns)


def as_graph(parents: Ints, names: list[str]) -> Any:
    """A networkx.DiGraph: an edge from the class to every attribute, and from its parent if it has one."""
    try:
        import networkx as nx
    except ImportError:
        raise ImportError("to_networkx needs networkx, which is not there: pip install networkx") from None
    graph = nx.DiGraph()
    graph.add_node(CLASS, kind="class")
    graph.add_nodes_from(names, kind="attribute")
    graph.add_edges_from((CLASS, name) for name in names)
    graph.add_edges_from((names[parent], name) for name, parent in zip(names, parents) if parent >= 0)
    return graph


def row_numbers(sample_weight: Any, rows: int) -> Ints:
    """Each row as often as its weight says; weights are whole numbers, since entropies count rows."""
    weights = np.asarray(sample_weight)
    if weights.shape != (rows,) or weights.dtype.kind not in "biuf":
        raise ValueError(f"sample_weight must have one number for each of {rows} rows, got shape {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights == np.floor(weights)).all()):
        raise ValueError("sample_weight must be whole numbers, how often each row counts: round or scale them")
    repeated = np.repeat(np.arange(rows), weights.astype(np.int64))
    if len(repeated) == 0:
        raise ValueError("sample_weight must be positive for a row, got only zeros")
    return repeated
