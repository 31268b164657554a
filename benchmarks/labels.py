"""Energies over many labels: ``python -m benchmarks.labels --time-limit 60``.

Restoration of noisy pictures, depth from generated stereo pairs, colourings and energies of both signs. For each,
energy and CPU seconds of α-expansion (a second at most for each move), how far that is above the bound, and the same of
``minimize_labels``. Energies are added up from the data.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from benchmarks.harness import print_machine, save, table
from dsprog.applications import alpha_expansion, minimize_labels
from dsprog.applications.vision import grid_pairs
from dsprog.experiments.data_folder import data_folder

Energy = tuple[np.ndarray, Any, np.ndarray]


def truncated(count: int, most: float, power: int = 1) -> np.ndarray:
    """min(|a - b|^power, most)."""
    apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(float)
    return np.minimum(apart**power, most)


def drawn(shape: tuple[int, int], count: int) -> np.ndarray:
    """Waves, a step and a disc, in grey levels."""
    y, x = np.mgrid[: shape[0], : shape[1]] / shape[0]
    grey = 0.5 + 0.3 * np.sin(5 * x) + 0.3 * (y > 0.5) * (x > 0.3) - 0.2 * ((x - 0.6) ** 2 + (y - 0.3) ** 2 < 0.05)
    return np.clip(np.round(grey * (count - 1)), 0, count - 1)


def restoration(picture: np.ndarray, count: int, noise: float, weight: float, distance: np.ndarray) -> Energy:
    """Squared differences to noisy levels."""
    noisy = picture + noise * count * np.random.default_rng(0).normal(size=picture.shape)
    noisy = np.clip(noisy, 0, count - 1).round()
    return (noisy.reshape(-1, 1) - np.arange(count)) ** 2, grid_pairs(picture.shape, weight), distance


def page(count: int) -> np.ndarray:
    """A photographed page, in grey levels."""
    import matplotlib.image as image

    pixels = image.imread(data_folder() / "images" / "page.png")
    pixels = pixels if pixels.ndim == 2 else pixels[:, :, :3].mean(axis=2)
    return np.round(pixels[:100, :140] * (count - 1))


def stereo(shape: tuple[int, int], shifts: int, seed: int) -> Energy:
    """Boxes at different depths before a wall, with noise."""
    rng = np.random.default_rng(seed)
    depth = np.ones(shape, dtype=np.int64)
    for near in range(2, shifts):
        top, left = rng.integers(0, shape[0] - 15), rng.integers(0, shape[1] - 20)
        depth[top : top + 15, left : left + 20] = near
    y, x = np.mgrid[: shape[0], : shape[1]]
    texture = rng.random(shape)
    left = texture[y, np.clip(x - depth, 0, None)] + 0.15 * rng.normal(size=shape)
    costs = np.stack([np.abs(left - texture[y, np.clip(x - d, 0, None)]) for d in range(shifts)], axis=-1)
    return np.minimum(costs, 0.5).reshape(-1, shifts), grid_pairs(shape, 0.1), truncated(shifts, 3)


def both_signs(size: int, count: int, strength: float) -> Energy:
    """A grid of Potts terms that attract or repel."""
    rng = np.random.default_rng(0)
    weights = [strength * rng.normal(size=size * (size - 1)) for _ in range(2)]
    return rng.normal(size=(size**2, count)), grid_pairs((size, size), weights), 1.0 - np.eye(count)


def colouring(n: int, count: int, density: float) -> Energy:
    """Neighbours of one colour cost one, and colours cost 0 to 2."""
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((n, n)) < density, 1).astype(float)
    return rng.integers(0, 3, (n, count)).astype(float), weights + weights.T, np.eye(count)


def problems() -> dict[str, Energy]:
    """By name; the photographed page only where the data folder is."""
    found = {
        "levels, truncated linear, 100 × 100 × 16": restoration(drawn((100, 100), 16), 16, 0.1, 4.0, truncated(16, 3)),
        "the same, more noise": restoration(drawn((100, 100), 16), 16, 0.3, 8.0, truncated(16, 4)),
        "levels, Potts, 100 × 100 × 8": restoration(drawn((100, 100), 8), 8, 0.4, 6.0, truncated(8, 1)),
        "levels, squares to 16, 60 × 60 × 16": restoration(drawn((60, 60), 16), 16, 0.1, 1.0, truncated(16, 16, 2)),
        "stereo, 90 × 130 × 12": stereo((90, 130), 12, 0),
        "stereo, 120 × 160 × 16": stereo((120, 160), 16, 1),
        "both signs, 14 × 14 × 4": both_signs(14, 4, 1.5),
        "both signs, 40 × 40 × 3": both_signs(40, 3, 1.5),
        "colouring, n = 60, 4 colours": colouring(60, 4, 0.12),
    }
    try:
        found["page, truncated linear, 100 × 140 × 16"] = restoration(page(16), 16, 0.1, 4.0, truncated(16, 4))
    except FileNotFoundError as error:
        print(f"no page: {error}")
    return found


def energy_of(energy: Energy, x: np.ndarray) -> float:
    """From the data."""
    import scipy.sparse as sparse

    unary, graph, distance = energy
    edges = sparse.triu(sparse.coo_array(graph), 1).tocoo()
    return float(unary[np.arange(len(x)), x].sum() + edges.data @ distance[x[edges.row], x[edges.col]])


def run_row(name: str, energy: Energy, time_limit: float) -> dict[str, object]:
    """Both, one after the other."""
    began = time.process_time()
    expanded = alpha_expansion(*energy, time_limit=1.0)
    middle = time.process_time()
    found = minimize_labels(*energy, time_limit=time_limit)
    ended = time.process_time()
    first, last = energy_of(energy, expanded.labels), energy_of(energy, found.labels)
    return {
        "problem": name,
        "α-expansion": f"{first:.10g}",
        "above the bound": f"{(first - found.lower_bound) / abs(found.lower_bound):.2%}",
        "its CPU s": round(middle - began, 2),
        "energy": f"{last:.10g}",
        "bound": f"{found.lower_bound:.10g}",
        "gap": f"{(last - found.lower_bound) / abs(found.lower_bound):.2%}",
        "certified": "yes" if found.certified else "no",
        "rounds": found.rounds,
        "nodes": found.nodes,
        "CPU s": round(ended - middle, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    options = parser.parse_args()
    for warm in (both_signs(8, 3, 1.0), colouring(20, 3, 0.3)):  # compiles and loads what the others need
        alpha_expansion(*warm)
        minimize_labels(*warm, time_limit=2.0)
    print_machine()
    rows = [run_row(name, energy, options.time_limit) for name, energy in problems().items()]
    save("labels", rows)
    print(table(rows))


if __name__ == "__main__":
    main()
