"""Examples run, the code in README and docs does what the pages claim, and links lead somewhere."""

import ast
import itertools
import re
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

import dsprog as ds
from dsprog import applications
from dsprog.cli import main

ROOT = Path(__file__).parents[1]
WRITTEN = [page for page in (ROOT / "docs").rglob("*.md") if not {"_build", "gallery"} & set(page.parts)]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(WRITTEN), ROOT / "benchmarks" / "README.md"]
BLOCKS = [
    pytest.param(code, id=f"{page.relative_to(ROOT).as_posix()}-{k}")
    for page in PAGES
    for k, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
]
CERTIFIED = "certified  yes"
# What a block prints that neither shows the result of an exact run nor asserts anything.
PRINTED = {
    "SubmodularFeatureSelector": "certified: True",
    "TANClassifier": "cuts certified: True",
}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
SOURCE = re.compile(r"`((?:dsprog|tests|benchmarks|examples|docs)/[\w/]+\.\w+)`")  # files, not folders that a run makes


def drawing():
    """Pyplot without a screen; figures that are left from elsewhere are closed first, as matplotlib 3.8 asks for."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    plt.switch_backend("Agg")
    return plt


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_example(path, capsys, monkeypatch):
    plt = drawing()
    monkeypatch.setattr(plt, "show", lambda: None)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out, "an example says something"
    assert plt.get_fignums(), "and draws something"
    plt.close("all")


def exact_results(code):
    """How many results of a default run the block prints: print(minimize(...)) without a solver."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    prints = [call.args[0] for call in calls if getattr(call.func, "id", "") == "print" and call.args]
    runs = [call for call in prints if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "minimize"]
    return sum(len(call.args) == 1 for call in runs)


@pytest.mark.parametrize("code", BLOCKS)
def test_code_in_the_docs(code, capsys, tmp_path):
    block = tmp_path / "block.py"  # a kernel is read from its file
    block.write_text(code)
    runpy.run_path(str(block), run_name="docs")
    shown = capsys.readouterr().out
    assert shown.count(CERTIFIED) >= exact_results(code), "every result of the default solver is certified"
    claims = [sentence for name, sentence in PRINTED.items() if name in code]
    asserts = any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))
    assert CERTIFIED in shown or asserts or claims, "a block shows a certificate, asserts, or is listed above"
    for sentence in claims:
        assert sentence in shown


@pytest.mark.parametrize("page", [page for page in PAGES if "```text" in page.read_text()], ids=lambda page: page.name)
def test_what_a_page_says_is_printed(page, capsys):
    """A block of text after a block of code is what it prints; what a run costs differs."""
    for code, text in re.findall(r"```python\n([^`]*)```\n\n```text\n(.*?)```", page.read_text(), re.S):
        exec(compile(code, "a block of the docs", "exec"), {"__name__": "docs"})
        shown = capsys.readouterr().out
        said = [line for line in text.splitlines() if not line.lstrip().startswith("cost ")]
        assert [line for line in said if line not in shown] == []


def is_built(link):
    """Whether a link leads into the gallery, made from the examples, or to a plot, made from the benchmarks."""
    if link.startswith("plots/"):
        return f'folder / "{link[6:]}"' in (ROOT / "docs" / "benchmark_plots.py").read_text()
    found = re.fullmatch(r"(?:\.\./)*gallery/(?:images/sphx_glr_)?(\w+?)(?:_\d{3}\.png|\.rst)", link)
    return (found is not None and (ROOT / "examples" / f"{found[1]}.py").exists()) or link.endswith("gallery/index.rst")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    """Links between pages, and to files named as code."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    links = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
    dead = [link for link in links if link and not (page.parent / link).exists() and not is_built(link)]
    gone = [name for name in SOURCE.findall(text) if not (ROOT / name).exists()]
    assert dead + gone == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_rows_of_tables_are_as_long_as_their_header(page):
    """A bar as in |S| would begin a new cell."""
    lines, wrong = page.read_text().splitlines(), []
    for k, line in enumerate(lines):
        if re.fullmatch(r"\|(-+\|)+", line):
            rows = itertools.takewhile(lambda row: row.startswith("|"), lines[k + 1 :])
            wrong += [row for row in (lines[k - 1], *rows) if len(re.findall(r"(?<!\\)\|", row)) != line.count("|")]
    assert wrong == []


def test_benchmarks_can_be_drawn(tmp_path):
    """The site's plots are made from the tables, so that these must keep their headings and columns."""
    drawing()
    plots = runpy.run_path(str(ROOT / "docs" / "benchmark_plots.py"))
    plots["make"](tmp_path)
    summary = (tmp_path / "peers.md").read_text()
    others = ("SCIP", "HiGHS", "toulbar2", "l0bnb", "OKRidge", "El0ps", "abess", "SubModST", "submodKC")
    assert [name for name in others if name not in summary] == []
    assert len(list(tmp_path.glob("*.png"))) == 3


def test_demo():
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0
    assert CERTIFIED in result.output


def test_the_reference_lists_every_public_name():
    listed = set((ROOT / "docs" / "api" / "index.rst").read_text().split())
    missing = [name for name in (*ds.__all__, *applications.__all__) if name not in listed and name != "testing"]
    assert missing == []
