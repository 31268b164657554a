"""Any set function as a difference of submodular functions.

Let α_ij bound the second differences v(S∪ij) - v(S∪i) - v(S∪j) + v(S) of v over all S from above, and g = -Σ_{i<j}
α_ij⁺ x_i x_j. Then g is submodular and so is v + g, since its second differences are at most α_ij - α_ij⁺ <= 0: v =
(v + g) - g. The smaller α, the tighter every bound that is built on the two parts; with the exact α no smaller
pairwise g does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.algebra import Difference
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import as_matrix, as_reals
from dsprog.functions.graph import Pairwise


def decompose(v: SetFunction, curvature: ArrayLike | None = None) -> Difference:
    """Write v as f - g with f and g submodular.

    Parameters
    ----------
    v : SetFunction
        Needs nothing more if it knows that it is submodular or supermodular, or can split itself (``Table``,
        ``Pairwise``, ``MutualInformation`` with a class, and sums of such).
    curvature : float or (n, n) array, optional
        Otherwise: an upper bound on the second differences of v, for all pairs or for each.

    Examples
    --------
    >>> import dsprog as ds
    >>> v = ds.Table([0.0, 1.0, 1.0, 5.0])
    >>> parts = ds.decompose(v)
    >>> parts.f([0, 1]) - parts.g([0, 1]), parts.is_certifiable
    (5.0, True)
    """
    parts = Difference(v)
    if parts.is_certifiable:
        return parts
    if curvature is None:
        raise ValueError(
            f"{v!r} is not known to be submodular or supermodular and cannot split itself: pass curvature, "
            "an upper bound on v(S∪ij) - v(S∪i) - v(S∪j) + v(S)"
        )
    bound = as_reals(curvature, "curvature")
    bound = as_matrix(np.full((v.n, v.n), bound) if bound.ndim == 0 else bound, "curvature", shape=(v.n, v.n))
    g = Pairwise(-np.triu(np.maximum(np.maximum(bound, bound.T), 0.0), 1))
    return Difference((v + g).declare(submodular=True), g)
