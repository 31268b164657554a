"""Ctrl-C at any moment of a solve: it is told, and the next solve works."""

import random
import signal
import threading
import time

import pytest

from dsprog.milp.sparse import SparseProgramme

pytest.importorskip("highspy")


def small_programme():
    programme = SparseProgramme()
    z = programme.columns([-1.0, -1.0, -2.0], 0.0, 1.0, integer=True)
    programme.row(z, [2.0, 2.0, 3.0], upper=3.0)
    return programme


def test_a_storm_of_signals_leaves_no_lock_behind():
    programme, over, draw = small_programme(), threading.Event(), random.Random(0)
    expected, main = programme.solve().bound, threading.main_thread().ident

    def storm():
        while not over.is_set():
            time.sleep(draw.uniform(0.0005, 0.004))
            signal.pthread_kill(main, signal.SIGINT)

    before = signal.signal(signal.SIGINT, lambda *_: told.append(True))  # between two solves it must not end the test
    told, thread = [], threading.Thread(target=storm, daemon=True)
    try:
        thread.start()
        outcomes = [solve() for _ in range(100) for solve in (programme.solve, programme.relaxed)]
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert told
    assert len(outcomes) == 200
    assert programme.solve().bound == expected


def test_an_interrupt_that_comes_late_is_not_lost():
    programme, before = small_programme(), signal.signal(signal.SIGINT, signal.default_int_handler)
    statuses = []
    try:
        for delay in (0.0, 0.0001, 0.0003, 0.001):
            timer = threading.Timer(delay, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
            try:
                timer.start()
                while True:
                    statuses.append(programme.solve().status)
                    if statuses[-1] == "interrupted":
                        break
            except KeyboardInterrupt:  # it came between two solves
                statuses.append("interrupted")
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert statuses.count("interrupted") == 4
