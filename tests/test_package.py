"""Promises of the package as a whole, as tests that can fail: what it imports, names, sizes, and refusals under -O."""

import ast
import collections
import importlib
import inspect
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import dsprog as ds
from tests.helpers.packages import blocking

PACKAGE = Path(ds.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in FILES})
TREES = {path: ast.parse(path.read_text()) for path in FILES}
OPTIONAL = ("highspy", "pyscipopt", "sklearn", "pandas", "matplotlib", "llvmlite")
HEAVY = ("llvmlite", "scipy.sparse.csgraph", "scipy.optimize", "highspy", "sklearn", "pandas", "matplotlib")
HEAVY += ("click", "rich", "dsprog.compiler.door")
LONGEST = 60  # lines of code in a function
KERNELS = {"kernel", "part"}  # one loop over arrays, which is compiled as a whole, is as long as it is


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def python(code, *options):
    """What another process says that runs the code."""
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=False)


def nodes(kind):
    """Every node of a kind, with its file."""
    return [(path, node) for path, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, kind)]


# -- imports --------------------------------------------------------------------------------------------------------


def test_every_name_and_solver_is_there_without_optional_packages():
    code = """
    import inspect
    import dsprog as ds

    for name in ds.__all__:
        getattr(ds, name)
    solvers = [c for c in vars(ds).values() if inspect.isclass(c) and issubclass(c, ds.Solver)]
    made = [c() for c in solvers if not inspect.isabstract(c)]
    print(len(made))
    """
    done = python(blocking(OPTIONAL, code))
    assert done.returncode == 0, done.stderr
    solvers = [c for c in vars(ds).values() if inspect.isclass(c) and issubclass(c, ds.Solver)]
    assert int(done.stdout) == sum(not inspect.isabstract(c) for c in solvers) >= 14


def test_blocked_packages_are_blocked():
    """The test above would prove nothing otherwise."""
    assert "llvmlite is blocked" in python(blocking(OPTIONAL, "import llvmlite")).stderr


def test_importing_dsprog_imports_nothing_heavy():
    done = python(f"import sys, dsprog; print([name for name in {HEAVY!r} if name in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_names_are_listed_once_and_in_order():
    assert len(ds.__all__) == len(set(ds.__all__))
    assert not [name for name in ds.__all__ if not hasattr(ds, name)]


# -- names and sizes ------------------------------------------------------------------------------------------------


def twice(pairs):
    """Names that occur more than once, with their places."""
    places = collections.defaultdict(list)
    for name, place in pairs:
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_module_name_occurs_twice():
    assert twice((path.name, name_of(path)) for path in FILES if path.name != "__init__.py") == {}


def test_no_public_class_name_occurs_twice():
    classes = ((path, node) for path, tree in TREES.items() for node in tree.body if isinstance(node, ast.ClassDef))
    assert twice((node.name, name_of(path)) for path, node in classes if not node.name.startswith("_")) == {}


def code_lines(path):
    """The lines of a file that hold code: neither blank, nor a comment, nor a string that stands by itself."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type not in silent:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return lines


def is_kernel(function):
    return any(getattr(getattr(d, "func", d), "id", "") in KERNELS for d in function.decorator_list)


def test_no_function_is_long():
    code = {path: code_lines(path) for path in FILES}
    sizes = {
        f"{name_of(path)}:{node.name}": len(code[path] & set(range(node.lineno, node.end_lineno + 1)))
        for path, node in nodes((ast.FunctionDef, ast.AsyncFunctionDef))
        if not is_kernel(node)
    }
    assert {name: size for name, size in sizes.items() if size > LONGEST} == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_every_folder_says_what_it_holds(folder):
    assert ast.get_docstring(TREES[folder / "__init__.py"])


def test_every_module_can_be_imported():
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    for path in FILES:
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        importlib.import_module(".".join(part for part in parts if part != "__init__"))


# -- promises that do not rest on assert ----------------------------------------------------------------------------


def test_refusals_do_not_rest_on_assertions():
    code = """
import dsprog as ds
try:
    ds.minimize(ds.CardinalityConcave(3) - 1.0, constraints=[ds.Knapsack([1.0, 2.0], 1.0)])
except ValueError as error:
    print(error)
"""
    done = python(code, "-O")
    assert done.returncode == 0, done.stderr
    assert "one entry for each of 3 elements" in done.stdout
