"""Sets and simplices."""

import numpy as np

from dsprog.exact.prismatic import prism


def sets_in(vertices, masks):
    """Which sets lie in a simplex."""
    weights = np.array([prism.barycentric(vertices, mask.astype(float)) for mask in masks])
    return (weights >= -1e-9).all(axis=1)
