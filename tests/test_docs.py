"""Examples run, and so does the code in README and docs."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [(page, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.S)]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_example(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out, "an example shows something"


@pytest.mark.parametrize(("page", "code"), BLOCKS, ids=[page.stem for page, _ in BLOCKS])
def test_code_in_the_docs(page, code, capsys):
    exec(compile(code, str(page), "exec"), {"__name__": "docs"})
    assert "certified" in capsys.readouterr().out.lower()


def test_demo(capsys):
    from click.testing import CliRunner

    from dsprog.cli import main

    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0
    assert "certified  yes" in result.output
