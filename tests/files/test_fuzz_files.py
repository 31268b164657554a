"""The fuzzer of files: what it starts from is valid, what it makes is refused or works."""

import numpy as np
import pytest

from fuzz import files, mutations, reader, valid_files


def test_valid_files_are_accepted(tmp_path):
    for name, data in valid_files.valid_files(tmp_path).items():
        path = tmp_path / name
        path.write_bytes(data)
        assert reader.judged(path) == ("accepted", ""), name


def test_mutants_are_other_files(tmp_path):
    rng = np.random.default_rng(0)
    originals = valid_files.valid_files(tmp_path)
    for name, data in originals.items():
        mutants = {mutations.mutated(data, rng) for _ in range(10)}
        assert len(mutants - {data}) > 3, name


@pytest.mark.slow
def test_nothing_is_found(tmp_path):
    assert files.fuzz_files(seed=7, minutes=1.0, folder=tmp_path) == []
