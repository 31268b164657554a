"""What kernels may not contain, and what the ledger of compilations counts.

Each idiom that is forbidden here makes numba compile a library of its own on a first run: see
:mod:`dsprog.core.kernel`.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dsprog

ROOT = Path(dsprog.__file__).parent
FORBIDDEN = {"np.argsort", "np.sort", "np.full", "np.flatnonzero", "np.searchsorted", "np.dot"}
ARRAYS = {"empty", "zeros", "ones", "empty_like", "zeros_like"}


def decorated(node):
    return isinstance(node, ast.FunctionDef) and any(
        getattr(getattr(d, "func", d), "id", "") in ("kernel", "short_kernel", "part") for d in node.decorator_list
    )


KERNELS = {
    f"{path.relative_to(ROOT)}:{node.name}": node
    for path in sorted(ROOT.rglob("*.py"))
    for node in ast.walk(ast.parse(path.read_text()))
    if decorated(node)
}


def arrays_of(function):
    """Names that certainly are arrays: made by np.empty and the like, or indexed in the kernel."""
    made = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and is_new_array(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    indexed = {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    }
    return made | indexed


def is_new_array(value):
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ARRAYS


def pairs_of(node):
    """Targets and values of an assignment, tuples taken apart."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts)
        else:
            yield target, node.value


def faults(function):
    """Everything in a kernel that should be written another way."""
    arguments = function.args
    if len(arguments.args) + len(arguments.kwonlyargs) > 10:
        yield f"{len(arguments.args)} arguments: put those that belong together into a NamedTuple"
    arrays = arrays_of(function)
    for node in ast.walk(function):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
            yield f"line {node.lineno}: @"
        if isinstance(node, ast.Attribute) and ast.unparse(node) in FORBIDDEN:
            yield f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.Assign):
            for target, value in pairs_of(node):
                whole = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
                row = isinstance(value, ast.Name) and value.id in arrays
                if isinstance(target, ast.Subscript) and (row or (whole and not is_number(value))):
                    yield f"line {node.lineno}: an array assigned to a slice"


def is_number(value):
    """Whether a value is a constant, with or without a sign, or np.inf."""
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Attribute) and value.attr in ("inf", "nan"))


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_quick_to_compile(name):
    assert list(faults(KERNELS[name])) == []


@pytest.mark.parametrize(
    "body",
    ["a[:] = b[0]", "row = np.empty(3); A[0] = row", "np.argsort(a)", "a @ b", "np.full(3, 1.0)", "np.flatnonzero(a)"],
)
def test_faults_are_found(body):
    function = ast.parse(f"def f(a, b, A):\n    {body}").body[0]
    assert list(faults(function))


def test_too_many_arguments_are_a_fault():
    function = ast.parse(f"def f({', '.join('abcdefghijk')}):\n    pass").body[0]
    assert "11 arguments" in next(faults(function))


CODE = """
import json
import numpy as np
from dsprog.core.kernel import compilations, watch
from dsprog.functions.spectral import LogDet

names = []
f = LogDet(1.0 + np.eye(4))
with watch(names.append):
    value = f.chains(np.array([[0, 2, 1, 3]])).tolist()
    f.chains(np.array([[1, 0, 2, 3]]))
spent = compilations()
print(json.dumps([value, names, spent.count, spent.seconds, spent.cpu]))
"""


def test_a_second_process_compiles_nothing(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run():
        done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True, env=environment)
        return json.loads(done.stdout)

    value, names, count, seconds, cpu = run()
    assert names == ["chains_kernel"]  # told once, before its parts are compiled with it
    assert count == 3
    assert seconds > 0
    assert cpu > 0
    assert run()[:3] == [value, [], 0]


SCALE = 2.0


def test_a_constant_belongs_to_the_fingerprint(monkeypatch):
    from dsprog.core.kernel import kernel

    def scaled(x):
        return SCALE * x

    before = kernel(scaled).digest
    monkeypatch.setitem(scaled.__globals__, "SCALE", 3.0)
    assert kernel(scaled).digest != before
