"""Images as energies: segmentation, and restoration of binary images with smooth or learned pairwise terms.

Every recipe builds an energy of unary and pair terms over the pixels and gives it to :func:`dsprog.minimize`. With
attractive pairs it is submodular, one maximum flow, and a million pixels are no problem; learned potentials may repel,
and then the exact quadratic solver is asked for a proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsprog.core.modular import Modular
from dsprog.core.set_function import SetFunction
from dsprog.core.validation import Floats, Ints, Masks, as_matrix, as_number
from dsprog.functions.graph import Cut, Pairwise
from dsprog.run.result import Result
from dsprog.solve.minimize import minimize

NEIGHBOURS = ((0, 1), (1, 0))


@dataclass(frozen=True)
class Labelled:
    """A binary image, and the result with its proof."""

    mask: Masks
    result: Result


def pixel_pairs(shape: tuple[int, int], offset: tuple[int, int]) -> tuple[Ints, Ints]:
    """The pixels (row by row) that have a partner at ``offset``, and those partners."""
    height, width = shape
    index = np.arange(height * width).reshape(shape)
    dy, dx = offset
    rows, columns = slice(max(0, -dy), height - max(0, dy)), slice(max(0, -dx), width - max(0, dx))
    there = index[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)]
    return index[rows, columns].ravel(), there.ravel()


def grid_pairs(shape: tuple[int, int], weights: float | Iterable[ArrayLike]) -> Any:
    """A symmetric sparse matrix of the weights between horizontal, then vertical neighbours: one number, or two arrays.

    >>> grid_pairs((1, 3), 2.0).toarray()
    array([[0., 2., 0.],
           [2., 0., 2.],
           [0., 2., 0.]])
    """
    import scipy.sparse as sparse

    n = shape[0] * shape[1]
    pairs = [pixel_pairs(shape, offset) for offset in NEIGHBOURS]
    parts = [weights] * 2 if isinstance(weights, (int, float)) else list(weights)
    values = [
        np.broadcast_to(np.asarray(part, dtype=float).ravel(), here.shape) for part, (here, _) in zip(parts, pairs)
    ]
    rows, columns = np.concatenate([here for here, _ in pairs]), np.concatenate([there for _, there in pairs])
    upper = sparse.coo_array((np.concatenate(values), (rows, columns)), shape=(n, n)).tocsr()
    return upper + upper.T


def segment(
    image: ArrayLike,
    smoothness: float = 1.0,
    contrast: float = 1.0,
    seeds: ArrayLike | None = None,
    time_limit: float | None = None,
) -> Labelled:
    """Foreground and background of a grey image, or of one with channels last, by one maximum flow.

    Each class has a mean; a pixel costs its squared distance to the mean of its class, in units of the variance within
    the classes, and neighbours in different classes cost smoothness · exp(-contrast · squared difference / its mean).

    Parameters
    ----------
    image : (h, w) or (h, w, channels) array
    smoothness, contrast : float
    seeds : (h, w) array, optional
        1 where a pixel is foreground, 0 where background, anything else where unknown. Seeds are kept, and their
        means start the classes; without them the classes start at the darkest and the brightest pixels.
    time_limit : float, optional

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((8, 8))
    >>> image[2:6, 3:6] = 1.0
    >>> found = segment(image + 0.1 * np.random.default_rng(0).normal(size=image.shape))
    >>> bool((found.mask == (image > 0.5)).all()), found.result.certified
    (True, True)
    """
    pixels = as_image(image)
    shape = pixels.shape[:2]
    known = np.full(shape, -1) if seeds is None else np.where(np.isin(seeds, (0, 1)), seeds, -1).astype(int)
    if known.shape != shape:
        raise ValueError(f"seeds must have shape {shape}, got {known.shape}")
    means, spread = two_means(pixels.reshape(-1, pixels.shape[2]), known.ravel())
    costs = [((pixels - mean) ** 2).sum(axis=2) / spread for mean in means]
    u = (costs[1] - costs[0]).ravel()
    certain = 1.0 + 8 * as_number(smoothness, "smoothness") + float(np.abs(u).max())
    u = np.where(known.ravel() == 1, -certain, np.where(known.ravel() == 0, certain, u))
    differences = [(np.diff(pixels, axis=1) ** 2).sum(axis=2), (np.diff(pixels, axis=0) ** 2).sum(axis=2)]
    typical = max(float(np.mean(np.concatenate([d.ravel() for d in differences]))), 1e-300)
    weights = [smoothness * np.exp(-contrast * d / typical) for d in differences]
    return label(Cut(grid_pairs(shape, weights)) + Modular(u), shape, time_limit)


def two_means(pixels: Floats, known: Ints) -> tuple[tuple[Floats, Floats], float]:
    """Means of background and foreground by a few rounds of 2-means, and the variance within them."""
    grey = pixels.mean(axis=1)
    bright = grey > 0.5 * (grey.min() + grey.max())
    inside = np.where(known >= 0, known == 1, bright)
    for _ in range(10):
        means = [pixels[part].mean(axis=0) if part.any() else pixels.mean(axis=0) for part in (~inside, inside)]
        distances = [((pixels - mean) ** 2).sum(axis=1) for mean in means]
        inside = np.where(known >= 0, known == 1, distances[1] < distances[0])
    spread = float(np.minimum(*distances).mean())
    return (means[0], means[1]), max(2 * spread, 1e-12)


def restore(
    image: ArrayLike,
    noise: float = 0.1,
    smoothness: float = 1.0,
    potentials: dict[tuple[int, int], Floats] | None = None,
    time_limit: float | None = None,
) -> Labelled:
    """A binary image from one whose pixels were flipped with probability ``noise``: the most probable one.

    Parameters
    ----------
    image : (h, w) array of 0 and 1
    noise : float
        Between 0 and ½.
    smoothness : float
        Cost of each pair of neighbours that differ; submodular, one maximum flow.
    potentials : dict, optional
        Instead of smoothness: for each offset (dy, dx) a 2 × 2 table of costs, such as :func:`learned_potentials` has.
        They may favour differences, which is not submodular.
    time_limit : float, optional

    Examples
    --------
    >>> import numpy as np
    >>> stripes = np.tile([1, 0], (6, 4))
    >>> noisy = stripes.copy()
    >>> noisy[2, 3] = 1 - noisy[2, 3]
    >>> found = restore(noisy, potentials=learned_potentials(stripes))
    >>> bool((found.mask == stripes).all()), found.result.certified
    (True, True)
    """
    noisy = as_matrix(image, "image", shape=(None, None))
    if not np.isin(noisy, (0, 1)).all():
        raise ValueError("image must have only zeros and ones: threshold a grey image first")
    if not 0 < noise < 0.5:
        raise ValueError(f"noise must lie between 0 and 0.5, got {noise}")
    shape = noisy.shape[0], noisy.shape[1]
    doubt = float(np.log((1 - noise) / noise))
    data = Modular(np.where(noisy.ravel() == 1, -doubt, doubt))
    if potentials is None:
        return label(Cut(grid_pairs(shape, as_number(smoothness, "smoothness"))) + data, shape, time_limit)
    return label(pair_energy(shape, potentials) + data, shape, time_limit)


def pair_energy(shape: tuple[int, int], potentials: dict[tuple[int, int], Floats]) -> Pairwise:
    """Σ over offsets and pixels of table[x_here, x_there]."""
    import scipy.sparse as sparse

    n = shape[0] * shape[1]
    u, constant, parts = np.zeros(n), 0.0, []
    for offset, table in potentials.items():
        costs = as_matrix(table, "potentials", shape=(2, 2))
        here, there = pixel_pairs(shape, offset)
        constant += len(here) * float(costs[0, 0])
        np.add.at(u, here, costs[1, 0] - costs[0, 0])
        np.add.at(u, there, costs[0, 1] - costs[0, 0])
        product = costs[0, 0] + costs[1, 1] - costs[0, 1] - costs[1, 0]
        parts.append(sparse.coo_array((np.full(len(here), product), (here, there)), shape=(n, n)).tocsr())
    return Pairwise(sum(parts, sparse.csr_array((n, n))), u, constant)


def learned_potentials(
    example: ArrayLike, offsets: Iterable[tuple[int, int]] = NEIGHBOURS, strength: float = 1.0
) -> dict[tuple[int, int], Floats]:
    """Costs -strength · ln P(a, b) / (P(a) P(b)) of the pairs at each offset of a clean binary image."""
    clean = as_matrix(example, "example", shape=(None, None)).astype(int)
    shape = clean.shape[0], clean.shape[1]
    tables = {}
    for offset in offsets:
        here, there = (clean.ravel()[part] for part in pixel_pairs(shape, offset))
        joint = np.array([[((here == a) & (there == b)).sum() + 1.0 for b in (0, 1)] for a in (0, 1)])
        joint /= joint.sum()
        tables[offset] = -strength * np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    return tables


def label(energy: SetFunction, shape: tuple[int, int], time_limit: float | None) -> Labelled:
    """Minimise an energy over pixels; the set is the foreground."""
    result = minimize(energy, time_limit=time_limit)
    mask = np.zeros(shape[0] * shape[1], dtype=bool)
    mask[list(result.S)] = True
    return Labelled(mask.reshape(shape), result)


def as_image(image: ArrayLike) -> Floats:
    """A finite (h, w, channels) array."""
    pixels = np.asarray(image, dtype=float)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    return as_matrix(pixels, "image", shape=(None, None, None))
