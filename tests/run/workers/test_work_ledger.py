"""The ledger alone: whatever happens to leases, no node is lost and the bound never passes what is open."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsprog.run.workers.work_ledger import PATIENCE, WorkLedger

DEPTH = 5  # of the tree that the random histories search


def root():
    return {"lower": np.array([0.0]), "code": np.array([1])}


def children(code):
    """The two children of a node in a binary tree; leaves have none."""
    return [2 * code, 2 * code + 1] if code < 2**DEPTH else []


def bundle(codes):
    codes = np.array(codes, dtype=np.int64)
    return {"lower": np.log2(codes), "code": codes}  # bounds rise with depth


def expanded(lease):
    """Some nodes of a lease expanded one level, as one bundle for each."""
    codes = np.concatenate([part["code"] for part in lease.bundles])
    return [bundle(found) for found in map(children, codes.tolist()) if found], codes.tolist()


class Model:
    """Every leaf must be closed, the bound must never pass the least node that is not done."""

    def __init__(self):
        self.ledger, self.done, self.late = WorkLedger(), set(), []
        self.ledger.enter(bundle([1]))
        self.live = {}

    def check(self):
        codes = {c for part in self.ledger.bundles() for c in part["code"].tolist()}
        waiting = [c for c in range(1, 2 ** (DEPTH + 1)) if c not in self.done]
        covered = codes | {d for c in codes for d in descendants(c)}
        assert set(waiting) <= covered, "a node was lost"
        least = min((math.log2(c) for c in waiting if c in codes), default=math.inf)
        assert self.ledger.lower <= least + 1e-12 * abs(least)  # sums in another order
        assert self.ledger.size == sum(len(part["lower"]) for part in self.ledger.bundles())

    def step(self, action, size):
        if action == "lease":
            lease = self.ledger.lease(size)
            if lease is not None:
                self.live[lease.number] = lease
        elif self.live:
            number = sorted(self.live)[size % len(self.live)]
            getattr(self, action)(number)
        elif self.late and action == "answer":
            number, bundles = self.late[size % len(self.late)]
            assert not self.ledger.answer(number, bundles, math.inf)
        self.check()

    def answer(self, number):
        bundles, codes = expanded(self.live.pop(number))
        assert self.ledger.answer(number, bundles, math.inf)
        self.done |= set(codes)
        self.late.append((number, bundles))

    def lose(self, number):
        lease = self.live.pop(number)
        assert self.ledger.lose(number) is lease
        assert self.ledger.lose(number) is None
        self.late.append((number, expanded(lease)[0]))

    def give_back(self, number):
        self.ledger.give_back(number)
        del self.live[number]


def descendants(code):
    found = children(code)
    return found + [d for c in found for d in descendants(c)]


ACTIONS = st.sampled_from(["lease", "lease", "answer", "answer", "lose", "give_back"])


@given(st.lists(st.tuples(ACTIONS, st.integers(1, 9)), max_size=120))
def test_no_history_loses_a_node(history):
    model = Model()
    for action, size in history:
        model.step(action, size)
    while not model.ledger.ended:  # and every history can be brought to its end
        for number in list(model.live):
            model.answer(number)
        model.step("lease", 4)
    assert model.done == set(range(1, 2 ** (DEPTH + 1)))
    assert model.ledger.lower == math.inf


def test_a_lost_bundle_is_halved_and_its_last_node_becomes_a_suspect():
    ledger = WorkLedger()
    ledger.enter({"lower": np.arange(8.0)})
    ledger.enter({"lower": np.array([100.0])})
    sizes = []
    while (suspect := ledger.suspect()) is None:
        lease = ledger.lease(1000)
        sizes.append(lease.rows)
        ledger.lose(lease.number)  # whoever takes the first node dies
    assert sizes == [9, 4, 2, 1]  # alone and halved from the first loss on
    assert suspect.bundles[0]["lower"].tolist() == [0.0]
    assert suspect.losses >= PATIENCE
    assert ledger.lower == 0.0


def test_closing_takes_the_least_bound_along():
    ledger = WorkLedger(closed=7.0)
    ledger.enter({"lower": np.array([5.0, 6.0])})
    ledger.close(5.5)
    assert not ledger.ended
    ledger.close(5.0)
    assert ledger.ended
    assert ledger.lower == 5.0


def test_leases_count_as_open_for_a_checkpoint():
    ledger = WorkLedger()
    ledger.enter({"lower": np.array([1.0, 2.0, 3.0])})
    ledger.lease(2)
    assert sorted(float(v) for part in ledger.bundles() for v in part["lower"]) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_lease_has_at_least_one_node(rows):
    ledger = WorkLedger()
    ledger.enter({"lower": np.zeros(3)})
    assert ledger.lease(rows).rows == max(1, rows)
    assert WorkLedger().lease(1) is None
