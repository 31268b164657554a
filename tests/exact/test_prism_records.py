"""The records of iterations: what they say of prisms can be checked against all sets."""

import numpy as np
import pytest

import dsprog as ds
from dsprog.generators import concave_difference
from dsprog.pictures.prisms import draw_prisms, open_and_deleted


def inside(simplex, points):
    """Whether each point lies in a simplex, by its barycentric coordinates."""
    equations = np.vstack([simplex.T, np.ones(len(simplex))])
    weights = np.linalg.solve(equations, np.vstack([points.T, np.ones(len(points))]))
    return (weights >= -1e-9).all(axis=0)


@pytest.mark.parametrize("bound", ["bilp", "lp"])
@pytest.mark.parametrize("seed", range(4))
def test_records_keep_what_they_say(seed, bound):
    records = []
    objective = concave_difference(3, seed=seed)
    result = ds.minimize(objective, ds.Prismatic(bound=bound, watch=records.append))
    sets = np.array([[k >> j & 1 for j in range(3)] for k in range(8)], dtype=bool)
    values = objective.values(sets)
    assert [record.number for record in records] == list(range(result.nodes + 1))
    for record in records:
        assert np.allclose(objective.values(record.sets), record.values)
        for simplex, lower in zip(record.parts, record.bounds):
            assert lower <= values[inside(simplex, sets.astype(float))].min(initial=np.inf) + 1e-6
    assert records[-1].value == pytest.approx(result.value)
    assert open_and_deleted(records[:1])[1] == []


def test_pictures_and_refusals():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for n in (2, 3):
        records = []
        result = ds.minimize(concave_difference(n, seed=0), ds.Prismatic(watch=records.append))
        axis = draw_prisms(records, best=result.S)
        assert axis.lines
        matplotlib.pyplot.close(axis.figure)
    records = []
    ds.minimize(concave_difference(4, seed=0), ds.Prismatic(watch=records.append), node_limit=1)
    with pytest.raises(ValueError, match="2 or 3 elements"):
        draw_prisms(records)
    with pytest.raises(TypeError, match="watch must be a function"):
        ds.Prismatic(watch=3)
