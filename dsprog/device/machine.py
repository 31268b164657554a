"""Where the arrays of a search live: in the memory of the host, or on an accelerator.

A search is written once, in NumPy's names. NumPy's functions pass on to the library of the arrays that they get (NEP
18), so that the same lines run on both; what differs is asked of the machine: new arrays (``xp``), the way there and
back (``send``, ``fetch``), functions on batches (``function``), and compiled kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from dsprog.core.set_function import SetFunction


class Machine(ABC):
    """What a search asks of the machine that its arrays are on.

    Attributes
    ----------
    name : str
        As a user writes it.
    xp : module
        Makes arrays there, with NumPy's names.
    batch, unit : int
        Nodes that are bounded at once, and nodes in a unit of work, unless the user says otherwise.
    starts : int
        Local searches before a search, unless the user says otherwise.
    first_batch : int
        The least batch under a time limit, with which a search begins.
    few : float
        The share of a batch that may be closed before it is worth while to take the others out.
    fill : int
        Nodes that are bounded in about the time that one takes.
    rounds : float
        How often a bound is tried at once where it fixes elements.
    blocks : int
        Blocks, each of several teams, that work at the same time.
    few_nodes : int
        Nodes below which the host looks at them sooner than blocks do.
    """

    name: str
    xp: Any
    lanes: int = 1  # of a team, in the kernels of a device
    batch: int
    unit: int
    starts: int = 20
    first_batch: int
    few: float = 0.0
    fill: int = 1
    rounds: float = np.inf
    blocks: int = 1
    few_nodes: int = 2

    @abstractmethod
    def send(self, array: np.ndarray) -> Any:
        """An array of the host, there."""

    @abstractmethod
    def fetch(self, array: Any) -> np.ndarray:
        """An array from there, on the host."""

    @abstractmethod
    def function(self, f: SetFunction) -> Any:
        """f as ``values``, ``marginals``, ``chains`` and ``tangents`` of arrays that are there."""

    @abstractmethod
    def most_open(self, n: int) -> float:
        """How many open nodes on n elements there is room for."""

    def running(self) -> AbstractContextManager[Any]:
        """Around a part of a search."""
        return nullcontext()

    def __reduce__(self) -> Any:
        """Pickled by name: elsewhere it is the machine of that place, and the host is the host."""
        return machine_named, (self.name,)

    def kernel(self, file: str, name: str, shared: int = 0, **macros: int) -> Any:
        """A compiled kernel of a device."""
        raise TypeError(f"device={self.name!r} has no kernels of its own")


class Host(Machine):
    """The host's own memory and processor."""

    name, xp, batch, unit, first_batch = "cpu", np, 512, 50_000, 8

    def send(self, array: np.ndarray) -> np.ndarray:
        """It is here."""
        return array

    def fetch(self, array: np.ndarray) -> np.ndarray:
        """It is here."""
        return array

    def function(self, f: SetFunction) -> SetFunction:
        """f itself."""
        return f

    def most_open(self, n: int) -> float:
        """A unit is small."""
        return np.inf


HOST = Host()
PLACE = 0  # of this process among the workers of a search
DEVICES = "'cpu', 'cuda', or 'cuda:1' for the second of several"


def check_device(device: str) -> None:
    """Refuse what is not the name of a device; whether there is one is seen when it is used."""
    kind, _, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    if device != "cpu" and (kind != "cuda" or (":" in device and not number.isdecimal())):
        raise ValueError(f"device must be {DEVICES}, got {device!r}")


def machine_named(device: str) -> Machine:
    """The machine that a user named.

    >>> machine_named("cpu").name
    'cpu'
    """
    check_device(device)
    if device == "cpu":
        return HOST
    from dsprog.device.cuda import cuda

    number = device.partition(":")[2]
    return cuda(int(number)) if number else cuda(None, PLACE)


def stand_at(place: int) -> None:
    """Say which of several workers this process is: "cuda" means a card of its own to each, as far as there are any."""
    global PLACE
    PLACE = place
