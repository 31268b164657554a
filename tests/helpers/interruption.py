"""Ctrl-C at a given point of a run, not after some seconds."""

import os
import signal
import threading

from dsprog.milp import highs, lazy


def press_ctrl_c():
    """Send the signal of Ctrl-C to this process, which must be able to see it."""
    assert threading.current_thread() is threading.main_thread()
    os.kill(os.getpid(), signal.SIGINT)


class Waiting:
    """A model of HiGHS for which Ctrl-C is pressed as it begins to work in its thread."""

    def __init__(self, model):
        vars(self)["model"] = model

    def __getattr__(self, name):
        return getattr(self.model, name)

    def __setattr__(self, name, value):
        setattr(self.model, name, value)

    def run(self):
        """As HiGHS does, in its thread; the signal comes to the main one."""
        os.kill(os.getpid(), signal.SIGINT)
        return self.model.run()


def interrupt_highs(monkeypatch):
    """Press Ctrl-C inside the first run of HiGHS with whole columns; whether each run was cancelled is listed."""
    real, answers = highs.was_cancelled, []

    def cancelled(model, watch=None):
        whole = len(model.getLp().integrality_) > 0
        answers.append(real(Waiting(model) if whole and not any(answers) else model, watch))
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


def interrupt_scip(monkeypatch, node):
    """Press Ctrl-C inside SCIP when it has solved the given node, counted from 1; the numbers of nodes solved."""
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

    solved, initialise = [], lazy.LazyModel.__init__

    class Press(Eventhdlr):
        def eventinit(self):
            self.model.catchEvent(SCIP_EVENTTYPE.NODESOLVED, self)

        def eventexec(self, event):
            solved.append(len(solved) + 1)
            if solved[-1] == node:
                press_ctrl_c()

    def watched(self, *arguments):
        initialise(self, *arguments)
        self.scip.includeEventhdlr(Press(), "press", "Ctrl-C at a node")

    monkeypatch.setattr(lazy.LazyModel, "__init__", watched)
    return solved
