"""The story that `dsprog demo` tells: which sensors along a river are worth their keep?"""

from __future__ import annotations

import numpy as np

from dsprog.core.algebra import Difference
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.spectral import LogDet
from dsprog.run.result import Result
from dsprog.solve.minimize import minimize

STORY = """\
Sixteen places along a river could carry a sensor. Sensors that share a road share its upkeep, so costs
grow slower and slower along each road; sensors that stand close measure the same water, so information
grows slower and slower too. Cost minus information is a difference of two submodular functions: neither
greedy choice nor submodular minimisation solves it.

    minimise   Σ_roads √(upkeep of the sensors on the road)  -  log det(I + K_S)
"""


def river(n: int = 16) -> tuple[Difference, np.ndarray, np.ndarray]:
    """The objective, the places along the river in kilometres, and the road of each place."""
    rng = np.random.default_rng(2011)
    place = np.sort(rng.uniform(0, 30, n))
    road = np.minimum((place // 8).astype(int), 3)
    upkeep = rng.uniform(0.2, 1.5, n)
    kernel = np.exp(-np.abs(place[:, None] - place[None, :]) / 4.0)
    cost = ConcaveOfModular((road == np.arange(4)[:, None]) * upkeep)
    return cost - LogDet(kernel), place, road


def picture(result: Result, place: np.ndarray, road: np.ndarray, width: int = 72) -> str:
    """The river as one line of text: ● a sensor that is kept, · one that is not, and the roads below."""
    column = np.minimum((place / 30 * (width - 1)).astype(int), width - 1)
    river, roads = ["~"] * width, [" "] * width
    for j, c in enumerate(column):
        river[c] = "●" if j in result.S else "·"
        roads[c] = "ABCD"[road[j]]
    return "    " + "".join(river) + "\n    " + "".join(roads)


def run() -> None:
    """Tell the story, solve it, and show the answer."""
    objective, place, road = river()
    print(STORY)
    result = minimize(objective)
    print(picture(result, place, road))
    print("    ● keep   · drop   A-D roads\n")
    print(result)
