"""Files from strangers: one sentence for what is wrong, nothing allocated on a header's word, never a crash."""

import io
import json
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

import dsprog as ds
from dsprog.cli import main
from dsprog.core import archive

MODULAR = {"family": "Modular", "weights": [1.0, 2.0, 3.0], "constant": 0.0}


def family(name, **arguments):
    return {"family": name, **arguments}


def of(dtype, numbers):
    return {"array": numbers, "dtype": dtype}


SPARSE = {"sparse": [[1.0], [0], [0]], "shape": [1_000_000, 1_000_000]}  # walking through its rows takes minutes


def text_of(objective, constraints=()):
    return json.dumps({"dsprog": 1, "objective": objective, "constraints": list(constraints)})


OBJECTIVES = {
    "labels beyond capacities": (
        family("MatroidRank", kind="partition", labels=[0, 10**12], capacities=[1]),
        "blocks must be numbered below 1",
    ),
    "negative labels": (family("MatroidRank", kind="partition", labels=[-5], capacities=[1]), "must be non-negative"),
    "edges beyond vertices": (
        family("MatroidRank", kind="graphic", labels=[[0, 9]], capacities=[2]),
        "edges must join vertices below 2",
    ),
    "edges of one end": (family("MatroidRank", kind="graphic", labels=[0], capacities=[2]), "must have shape (any, 2)"),
    "kind of matroid": (family("MatroidRank", kind="free", labels=[0], capacities=[2]), "kind must be 'partition'"),
    "no permutation": (
        family("Relabelled", function=MODULAR, permutation=of("<i8", [0, 0, 7])),
        "permutation must be a permutation of 0..2",
    ),
    "permutation of words": (family("Relabelled", function=MODULAR, permutation="012"), "must be a permutation"),
    "view of a number": (family("Complement", function=3), "function must be a SetFunction, got int"),
    "element out of range": (
        family("Restriction", function=MODULAR, include=of("<i8", [7]), free=of("<i8", [0])),
        "include must have elements from 0 to 2, got 7",
    ),
    "included and free": (
        family("Restriction", function=MODULAR, include=of("<i8", [1]), free=of("<i8", [0, 1])),
        "include and free must have no element in common, got 1",
    ),
    "free twice": (
        family("Restriction", function=MODULAR, include=of("<i8", []), free=of("<i8", [1, 1])),
        "free must name each element once",
    ),
    "unknown property": (family("Declared", function=MODULAR, properties={"convex": True}), "properties must be among"),
    "property of words": (
        family("Declared", function=MODULAR, properties={"submodular": "no"}),
        "submodular must be True, False or None, got 'no'",
    ),
    "properties as a list": (family("Declared", function=MODULAR, properties=[1]), "properties must be a dictionary"),
    "words by the gigabyte": (family("Modular", weights=of("<U500000000", ["a"])), "the dtype of an array must be"),
    "objects": (family("Modular", weights=of("|O", [1.0])), "the dtype of an array must be"),
    "no dtype": (family("Modular", weights={"array": [1.0]}), "'dtype' is missing"),
    "dtype too small": (family("Modular", weights=of("|i1", [300])), "is not a valid instance"),
    "NaN as coefficient": (
        family("Sum", n=3, terms=[[float("nan"), MODULAR]]),
        "the coefficient of a term must be finite, got nan",
    ),
    "infinite coefficient": (family("Sum", n=3, terms=[[float("inf"), MODULAR]]), "must be finite, got inf"),
    "terms on other elements": (family("Sum", n=4, terms=[[1.0, MODULAR]]), "terms must be functions of 4 elements"),
    "term of numbers": (family("Sum", n=3, terms=[[1.0, 2.0]]), "terms must be pairs of a number and a SetFunction"),
    "a large empty sum": (family("Sum", n=10**9, terms=[]), "n of Sum must be at most 100"),
    "a large n": (family("CardinalityConcave", n=10**10), "n of CardinalityConcave must be at most 100"),
    "a large matrix": (
        family("Cut", adjacency={"sparse": [of("<f8", [])] + 2 * [of("<i8", [])], "shape": [10**9, 10**9]}),
        "a side of a sparse matrix must be at most 100",
    ),
    "entries outside a matrix": (
        family("Cut", adjacency={"sparse": [of("<f8", [1.0]), of("<i8", [0]), of("<i8", [5])], "shape": [2, 2]}),
        "is not a valid instance",
    ),
    "a class inside a solver": (family("SharedCurvature", Q=[[0.0]], d=0.0), "unknown family 'SharedCurvature'"),
    "a private class": (family("ClassInformation", X=[[0]], y=[0]), "unknown family 'ClassInformation'"),
    "a half class": (family("LinearCombination"), "LinearCombination is no family by itself"),
    "a family that is a list": ({"family": ["Modular"]}, "unknown family ['Modular']"),
    "module to import": (family("os:system", command="true"), "unknown family 'os:system'"),
    "sums that overflow": (
        family("Pairwise", quadratic=of("<f8", [[1e308] * 4] * 4), linear=of("<f8", [-1e308] * 4)),
        "quadratic must have absolute values that add up to at most 1e+300",
    ),
    "a matrix for elements": (
        family("Restriction", function=MODULAR, include=SPARSE, free=of("<i8", [])),
        "include must be elements",
    ),
    "a matrix for terms": (family("Sum", n=3, terms=SPARSE), "terms must be pairs of a number and a SetFunction"),
    "many digits": (family("Modular", weights=[1.0], constant=10**400), "constant must be a number"),
}


def complaint(path):
    """What load and the command line say, in one sentence each."""
    with pytest.raises(ValueError) as caught:
        ds.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    outcome = CliRunner().invoke(main, ["solve", "--quiet", str(path)])
    assert (outcome.exit_code, outcome.output.count("\n")) == (1, 1)
    return message


@pytest.mark.parametrize("case", OBJECTIVES)
def test_fields_are_checked_before_use(case, tmp_path):
    objective, sentence = OBJECTIVES[case]
    path = tmp_path / "hostile.json"
    path.write_text(text_of(objective))
    assert sentence in complaint(path)


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        (SPARSE, "its constraints are not a list"),
        ([{"constraint": "Include", "elements": SPARSE}], "Include takes no sparse matrix"),
        ([3], "constraints must be Constraint objects"),
    ],
)
def test_constraints_are_checked(constraints, sentence, tmp_path):
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps({"dsprog": 1, "objective": MODULAR, "constraints": constraints}))
    assert sentence in complaint(path)


def test_many_terms_are_read_in_linear_time(tmp_path):
    f = ds.Sum(2, [(1.0, ds.MatroidRank.partition([0, 0], [k % 1000])) for k in range(2000)])
    assert len(f.terms) == 1000
    f.save(tmp_path / "many.json")
    assert ds.load(tmp_path / "many.json") == f


@pytest.mark.parametrize("depth", [300, 100_000])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_deep_brackets(depth, brackets, tmp_path):
    opened, closed = ("[", "]") if brackets == "[]" else ('{"a":', "}")
    path = tmp_path / "deep.json"
    path.write_text(f'{{"dsprog": 1, "objective": {opened * depth}1{closed * depth}}}')
    assert "nested" in complaint(path)


def test_an_archive_that_expands(tmp_path):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, header=np.zeros(1, dtype=np.uint8), a0=np.zeros(20_000_000))
    assert path.stat().st_size < 300_000
    assert "in proportion to its length" in complaint(path)


def npy(dtype, shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue() + b"\0" * 8


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (npy("<f8", (10**10,)), "does not have 8 bytes"),
        (npy("<U500000000", (1,)), "the dtype of an array must be"),
        (npy("|O", (1,)), "the dtype of an array must be"),
        (npy("<f8", (-1,)), "does not have 8 bytes"),
        (b"\x93NUMPY\x03\x00", "another npy version"),
        (b"hello", "cannot be read as JSON or npz"),
    ],
)
def test_arrays_that_say_too_much(content, sentence, tmp_path):
    path = tmp_path / "array.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.npy", content)
    assert sentence in complaint(path)


def test_what_is_saved_can_be_read(tmp_path, monkeypatch):
    """An archive of zeros is written without compression, so that a reader finds it in proportion."""
    monkeypatch.setattr(archive, "FREE_BYTES", 1000)
    f = ds.FacilityLocation(np.zeros((400, 400)))
    f.save(tmp_path / "zeros.npz")
    assert ds.load(tmp_path / "zeros.npz") == f


@pytest.mark.parametrize(
    "text",
    [
        "1000000000 0\n",
        "1000000000 1\n1 1 2\n",
        "1\n1000000000 0\n",
        "p qubo 0 1000000000 0 0\n",
        "p max 1000000000 0\nn 1 s\nn 2 t\n",
        "MARKOV\n1000000000\n2\n",
        "9" * 5000 + " 1\n",
    ],
)
def test_a_header_alone_takes_no_memory(text, tmp_path):
    path = tmp_path / "instance"
    path.write_text(text)
    with pytest.raises(ValueError, match="line") as caught:
        ds.read(path)
    assert len(str(caught.value)) < 500


def test_a_users_cut_beside_ours(tmp_path):
    class Cut(ds.SetFunction):
        def __init__(self, n):
            self.n, self.knows = n, ds.Knowledge(submodular=True)

        def _values(self, masks):
            return np.minimum(masks.sum(axis=1), 1.0)

    ours, mine = ds.Cut([[0, 1], [1, 0]]), Cut(2)
    for f, name in ((ours, "Cut"), (mine, f"{__name__}:{Cut.__qualname__}")):
        f.save(tmp_path / "f.json")
        assert json.loads((tmp_path / "f.json").read_text())["objective"]["family"] == name
        assert type(ds.load(tmp_path / "f.json")) is type(f)


def test_nothing_unexpected_reaches_the_command_line(monkeypatch):
    def fail():
        raise AttributeError("no such thing")

    monkeypatch.setattr("dsprog.experiments.demo.run", fail)
    outcome = CliRunner().invoke(main, ["demo"])
    assert (outcome.exit_code, outcome.output) == (1, "Error: AttributeError: no such thing\n")


def test_exit_codes_are_documented():
    for command in ([], ["solve"]):
        text = CliRunner().invoke(main, [*command, "--help"]).output
        assert "Exit status" in text
        assert "1  an error, said in one sentence" in text
