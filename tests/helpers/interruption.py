"""Ctrl-C at a given point of a run, not after some seconds."""

import os
import signal
import threading

from dsprog.milp import highs


def press_ctrl_c():
    """Send the signal of Ctrl-C to this process, which must be able to see it."""
    assert threading.current_thread() is threading.main_thread()
    os.kill(os.getpid(), signal.SIGINT)


class Waiting:
    """A model of HiGHS for which Ctrl-C is pressed at the first wait, while it is at work in its thread."""

    def __init__(self, model):
        vars(self)["model"] = model

    def __getattr__(self, name):
        return getattr(self.model, name)

    def __setattr__(self, name, value):
        setattr(self.model, name, value)

    def wait(self, *timeout):
        """As HiGHS does; without a timeout the run has been cancelled already."""
        if timeout:
            press_ctrl_c()
        return self.model.wait(*timeout)


def interrupt_highs(monkeypatch, call):
    """Press Ctrl-C inside the given call of HiGHS, counted from 1; the answers of all calls come in the list."""
    real, answers = highs.was_cancelled, []

    def cancelled(model):
        answers.append(real(Waiting(model) if len(answers) + 1 == call else model))
        return answers[-1]

    monkeypatch.setattr(highs, "was_cancelled", cancelled)
    return answers


def interrupt_call(monkeypatch, owner, name, call):
    """Press Ctrl-C at the start of the given call of a function, counted from 1."""
    real, calls = getattr(owner, name), []

    def interrupted(*arguments, **options):
        calls.append(name)
        if len(calls) == call:
            press_ctrl_c()
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, interrupted)
    return calls
