"""A file for other solvers has the optimum where terms are exact, and a lower bound elsewhere; read back by HiGHS."""

import pytest

import dsprog as ds
from dsprog.adapters.programmes import write_programme
from dsprog.generators import FAMILIES

EXACT = ("coverage", "facility", "cut", "pairwise", "polynomial", "rank")


def solved(file):
    highspy = pytest.importorskip("highspy")
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.readModel(str(file))
    model.run()
    names = model.getLp().col_names_
    chosen = {name for name, value in zip(names, model.getSolution().col_value) if value > 0.5}
    return model.getInfo().objective_function_value, chosen


@pytest.mark.parametrize("suffix", [".mps", ".lp"])
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_optimum_of_the_file(family, suffix, tmp_path):
    objective, constraints = FAMILIES[family](8, 1) + 0.5, [ds.Cardinality(max=4)]
    write_programme(objective, tmp_path / f"model{suffix}", constraints)
    value, chosen = solved(tmp_path / f"model{suffix}")
    best = ds.minimize(objective, constraints=constraints).value
    assert value <= best + 1e-6
    if family in EXACT:
        assert value == pytest.approx(best, abs=1e-6)
        assert objective([j for j in range(8) if f"c{j}" in chosen]) == pytest.approx(best, abs=1e-6)


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match=r"path must end in \.mps or \.lp, got 'model\.txt'"):
        write_programme(ds.Modular([1.0]), tmp_path / "model.txt")
    with pytest.raises(ValueError, match="path must lie in a folder that is there"):
        write_programme(ds.Modular([1.0]), tmp_path / "nowhere" / "model.mps")
