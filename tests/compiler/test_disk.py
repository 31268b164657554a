"""Machine code is kept on disk: found again, never stale, never damaged, and its lack is no fault."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from dsprog.compiler import disk, machine_code, numbers
from dsprog.core.kernel import Kernel

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
print(json.dumps([value, names, spent.count, spent.seconds > 0, spent.cpu > 0]))
"""


def process(folder, code=CODE, **settings):
    environment = {**os.environ, "DSPROG_CACHE_DIR": str(folder), **settings}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing(tmp_path):
    value, *told = process(tmp_path)
    assert told == [["chains_kernel"], 1, True, True]
    assert process(tmp_path) == [value, [], 0, False, False]
    assert process(tmp_path, DSPROG_CHECK_INDICES="1") == [value, *told]


@pytest.mark.parametrize(
    "damage", [lambda code: b"", lambda code: code[:-1], lambda code: code[:100] + b"x" + code[101:]]
)
def test_what_is_damaged_is_compiled_again(tmp_path, damage):
    value, *told = process(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert process(tmp_path) == [value, *told]
    assert process(tmp_path) == [value, [], 0, False, False]


def test_without_a_folder_there_is_just_no_file(tmp_path):
    (tmp_path / "file").write_text("")
    assert process(tmp_path / "file" / "below")[1:] == [["chains_kernel"], 1, True, True]


def test_several_processes_at_once(tmp_path):
    environment = {**os.environ, "DSPROG_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", CODE]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(4)]
    values = [json.loads(one.communicate()[0])[0] for one in running]
    assert values == values[:1] * 4
    assert len(list(tmp_path.iterdir())) == 1


def test_where_code_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("DSPROG_CACHE_DIR", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    module = tmp_path / "module.py"
    assert disk.folders_of(module) == [tmp_path / "caches" / "dsprog"]
    module.write_text("")
    assert disk.folders_of(module) == [tmp_path / "__pycache__", tmp_path / "caches" / "dsprog"]
    monkeypatch.setattr(Path, "home", classmethod(lambda _: (_ for _ in ()).throw(RuntimeError("no home"))))
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert disk.folders_of(module) == [tmp_path / "__pycache__"]
    monkeypatch.setenv("DSPROG_CACHE_DIR", "elsewhere")
    assert disk.folders_of(module) == [Path("elsewhere")]


def test_the_next_folder_where_one_takes_nothing(tmp_path, monkeypatch):
    """Code in a folder that is only read, as one that somebody else has filled, is found all the same."""
    module, folders = tmp_path / "module.py", [tmp_path / "one", tmp_path / "two"]
    monkeypatch.setattr(disk, "folders_of", lambda _: folders)
    folders[0].write_text("no folder")
    disk.write("module.f-a.kernel", b"code", module)
    assert disk.read("module.f-a.kernel", module) == b"code"
    folders[0].unlink()
    disk.write("module.f-b.kernel", b"more", module)
    assert [[file.name for file in folder.iterdir()] for folder in folders] == [
        ["module.f-b.kernel"], ["module.f-a.kernel"],
    ]  # fmt: skip
    assert disk.read("module.f-b.kernel", module) == b"more"
    assert disk.read("module.f-a.kernel", module) == b"code"


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_others_may_read_it(tmp_path):
    before = os.umask(0o022)
    try:
        disk.put(tmp_path / "file", b"code")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_what_is_left_of_a_write_that_was_stopped_goes(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        disk.put(tmp_path / "file", b"code")
    assert list(tmp_path.iterdir()) == []


def test_what_is_older_than_its_module_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("DSPROG_CACHE_DIR", str(tmp_path))
    module = tmp_path / "module.py"
    left = ["module.f-old.kernel", "module.f-old.kernel.0123"]
    kept = ["module.g-old.kernel", "other.f-old.kernel"]
    for name in left + kept:
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (1, 1))
    module.write_text("")
    os.utime(module, (time.time() - 100, time.time() - 100))
    disk.write("module.f-new.kernel", b"code", module)
    disk.write("module.f-newer.kernel", b"more", module)
    names = {file.name for file in tmp_path.glob("*.kernel*")}
    assert names == {"module.f-new.kernel", "module.f-newer.kernel", *kept}
    assert disk.read("module.f-newer.kernel", module) == b"more"


class Box(NamedTuple):
    low: float


class Crate(NamedTuple):
    low: float


class Chest(NamedTuple):
    high: float


def scaled(x):
    return SCALE * helper(Pair(x))  # noqa: F821


def doubled(x):
    return x + x


def squared(x):
    return x * x


def digest(**names):
    """The fingerprint of a kernel in a module that knows these names."""
    known = {"SCALE": 2.0, "helper": Kernel(doubled), "Pair": Box, **names}
    return Kernel(type(scaled)(scaled.__code__, known)).digest


def test_whatever_code_depends_on_is_in_its_name():
    digests = [
        digest(), digest(SCALE=3.0), digest(SCALE=2), digest(SCALE=np.uint64(2)), digest(helper=Kernel(squared)),
        digest(Pair=Crate), digest(Pair=Chest), digest(Pair=np.sqrt), digest(Pair=np.exp), digest(SCALE="f4"),
        digest(SCALE=np.dtype("f4")), digest(SCALE=np.dtype("f8")),
    ]  # fmt: skip
    assert len(set(digests)) == len(digests)
    assert digest(other=1.0) == digest()


def test_names_of_variables_and_fields_are_in_it():
    def one(x):
        return x.low

    def other(x):
        return x.high

    assert one.__code__.co_code == other.__code__.co_code
    assert Kernel(one).digest != Kernel(other).digest


def test_what_code_may_call_is_found():
    """LLVM ends the process where a function is missing."""
    library = machine_code.c_library()
    assert [name for name in machine_code.C_FUNCTIONS if not hasattr(library, name)] == []
    called = {name for name in numbers.FUNCTIONS.values() if not name.startswith("llvm.")}
    assert called <= set(machine_code.C_FUNCTIONS)
