"""Files of other tools: what they mean, and one sentence with file and line for what is wrong with them."""

import json

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
from click.testing import CliRunner

import dsprog as ds
from dsprog.applications.energy import ising, max_cut, qubo
from dsprog.cli import main
from dsprog.files import read, recognised
from dsprog.functions.table import all_masks
from tests.helpers.packages import SHIPPED

UAI = "MARKOV\n2\n2 2\n3\n1 0\n2 0 1\n0\n\n2 0.5 1.5\n4\n 1 2 3 4\n1 7\n"
SPARSE = "3 4\n1 1 -5\n1 2 3\n2 3 -1\n3 3 2\n"
OR_LIBRARY = "2\n3 2\n1 1 5\n1 2 -3\n2 1\n1 2 4\n"
QBSOLV = "c text\np qubo 0 3 1 2\n0 0 -5\n0 1 3\n1 2 -1\n"
RUDY = "3 3\n1 2 4\n2 3 1\n1 3 -2\n"
DIMACS = "c text\np max 4 5\nn 1 s\nn 4 t\na 1 2 3\na 1 3 2\na 2 3 5\na 2 4 2\na 3 4 3\n"
TEXTS = {
    "uai": UAI,
    "sparse": SPARSE,
    "or-library": OR_LIBRARY,
    "qbsolv": QBSOLV,
    "rudy": RUDY,
    "dimacs": DIMACS,
}


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "instance"
        path.write_text(text)
        return path

    return written


@pytest.mark.parametrize("name", TEXTS)
def test_recognised_by_content(name, write):
    path = write(TEXTS[name])
    assert recognised(path) == name
    masks = all_masks(read(path).n)
    np.testing.assert_array_equal(read(path).values(masks), read(path, name).values(masks))


def test_uai(write):
    f = read(write(UAI))
    for a in (0, 1):
        for b in (0, 1):
            theta = (0.5, 1.5)[a] * (1, 2, 3, 4)[2 * a + b] * 7
            assert f(np.array([a, b], dtype=bool)) == pytest.approx(-np.log(theta))


def test_qubo_formats(write):
    Q = np.array([[-5.0, 3, 0], [3, 0, -1], [0, -1, 2]])
    for x in all_masks(3):
        assert read(write(SPARSE))(x) == x @ Q @ x
        assert read(write(QBSOLV))(x) == -5 * x[0] + 3 * x[0] * x[1] - x[1] * x[2]
        assert read(write(OR_LIBRARY))(x) == -(5 * x[0] - 6 * x[0] * x[1])
    assert read(write(OR_LIBRARY), problem=2)([0, 1]) == -8


def test_graph_formats(write):
    f = read(write(RUDY))
    assert f([0]) == -2
    assert f([1]) == -5
    assert f([0, 1]) == 1
    flow = ds.minimize(read(write(DIMACS)), ds.QuadraticBranchAndBound())
    assert flow.value == 5
    assert flow.proof == "one maximum flow"


def test_the_shipped_instances():
    """Against what their sources print, term by term."""
    tutorial = read(SHIPPED / "glover.qubo")
    for x in all_masks(4):
        linear = -5 * x[0] - 3 * x[1] - 8 * x[2] - 6 * x[3]
        assert tutorial(x) == linear + 4 * x[0] * x[1] + 8 * x[0] * x[2] + 2 * x[1] * x[2] + 10 * x[2] * x[3]
    assert (recognised(SHIPPED / "glover.qubo"), recognised(SHIPPED / "petersen.mc")) == ("qbsolv", "rudy")
    assert ds.minimize(tutorial).S == (0, 3)
    petersen, graph = read(SHIPPED / "petersen.mc"), nx.petersen_graph()
    assert nx.is_isomorphic(graph, nx.Graph((a, b) for a in range(10) for b in range(a) if petersen([a, b]) == -4))
    assert all(petersen(x) == max_cut(nx.to_numpy_array(graph))(x) for x in all_masks(10)[::37])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1: no known format"),
        ("hello world\n", "line 1: no known format"),
        ("MARKOV\n2\n2 3\n0\n", "line 3: variable 1 has 3 labels, and only binary models can be read"),
        ("MARKOV\n2\n2\n", "line 3: the file ends where the number of labels of a variable should be"),
        ("MARKOV\n1\n2\n1\n1 4\n", "line 5: a variable of a table must be from 0 to 0, got 4"),
        ("MARKOV\n3\n2 2 2\n1\n3 0 1 2\n", "line 5: a table of 3 variables"),
        ("MARKOV\n1\n2\n1\n1 0\n3 1 1 1\n", "line 6: a table of 1 binary variables has 2 entries, not 3"),
        ("MARKOV\n1\n2\n1\n1 0\n2 0 1\n", "line 6: an entry of a table must be positive"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 x\n", "line 6: an entry of a table must be a number, got 'x'"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 1\n9\n", "line 7: the file goes on where it should end"),
        ("3 4\n1 1 2\n", "line 2: the file ends after 1 of 4 entries"),
        ("3 1\n1 1 2\n2 2 2\n", "line 3: the file goes on"),
        ("3 1\n4 4 2\n", "line 2: a row or column of 3 must be from 1 to 3, got 4"),
        ("3 1\n1 1 nan\n", "line 2: an entry must be finite"),
        ("3 2\n1 2 1\n", "line 2: the file ends after 1 of 2 edges"),
        ("3 1\n0 2 1\n", "line 2: a vertex of 3 must be from 1 to 3, got 0"),
        ("1\n3 1\n1 5 2\n", "line 3: a row or column of 3"),
        ("p qubo 0 2 1 0\n0 7 1\n", "line 2: a row or column of 2 must be from 0 to 1, got 7"),
        ("p max 3 1\nn 1 s\na 1 2 3\n", "line 3: there must be one source"),
        ("p max 3 2\nn 1 s\nn 3 t\na 1 2 3\n", "line 4: the file has 1 arcs where its head says 2"),
        ("p max 3 1\nn 1 s\nn 3 t\na 1 2 -3\n", "line 4: a capacity must be at least 0"),
        ("p max 3 1\nq\n", "line 2: a line must begin with p, n or a"),
    ],
)
def test_malformed_files(text, sentence, write):
    path = write(text)
    with pytest.raises(ValueError) as caught:
        read(path)
    assert f"{path}, {sentence}" in str(caught.value)
    outcome = CliRunner().invoke(main, ["solve", "--quiet", str(path)])
    assert outcome.exit_code == 1
    assert "Traceback" not in outcome.output


@pytest.mark.parametrize("name", TEXTS)
def test_truncated_anywhere(name, write):
    words = TEXTS[name].split("\n")
    for length in range(1, len(words) - 2):
        with pytest.raises(ValueError, match="line"):
            read(write("\n".join(words[:length])), name, problem=2 if name == "or-library" else 1)


def test_command_line(write):
    path = write(RUDY)
    run = CliRunner().invoke
    answer = json.loads(run(main, ["solve", "--quiet", "--json", str(path)]).output)
    assert answer["value"] == -5
    as_qubo = json.loads(run(main, ["solve", "--quiet", "--json", "--format", "sparse", str(path)]).output)
    assert as_qubo["value"] == -4
    assert "format must be" in run(main, ["solve", "--format", "xml", str(path)]).output
    assert "has the problems 1 to 2, not 3" in run(main, ["solve", "--problem", "3", str(write(OR_LIBRARY))]).output


def test_matrices_and_graphs_in_python():
    rng = np.random.default_rng(0)
    A = np.triu(rng.integers(-3, 4, (6, 6)), 1)
    A = A + A.T
    graph = nx.from_numpy_array(A)
    for given in (A, sparse.csr_array(A), graph):
        f = max_cut(given)
        for x in all_masks(6):
            assert f(x) == -(A[x][:, ~x]).sum()
    Q = rng.integers(-3, 4, (6, 6))
    h = rng.normal(size=6)
    for x in all_masks(6):
        s = 1 - 2.0 * x
        assert qubo(Q)(x) == x @ Q @ x
        assert ising(h, A)(x) == pytest.approx(h @ s + 0.5 * s @ A @ s)
    with pytest.raises(ValueError, match="graph must be symmetric"):
        max_cut([[0, 1], [0, 0]])
