"""dimod: a sampler that proves what it returns, and quadratic functions as binary quadratic models.

``pip install dsprog[dimod]``.

>>> import dimod
>>> model = dimod.BinaryQuadraticModel({"a": -1.0, "b": -1.0}, {("a", "b"): 3.0}, 0.0, "BINARY")
>>> samples = DsprogSampler().sample(model)
>>> float(samples.first.energy), samples.info["certified"]
(-1.0, True)
"""

from __future__ import annotations

from typing import Any

import dimod
import numpy as np

from dsprog.core.set_function import SetFunction
from dsprog.core.validation import as_count
from dsprog.functions.quadratic_energies import qubo
from dsprog.run.solver import Solver
from dsprog.solve.enumerate import enumerate_best
from dsprog.solve.minimize import minimize

LIMITS = ("time_limit", "node_limit", "seed", "verbose")


class DsprogSampler(dimod.Sampler):
    """The exact minimum of a binary quadratic model, or its best states, with the certificate in ``info``.

    Parameters
    ----------
    solver : Solver, optional
        As in :func:`dsprog.minimize`, which chooses by itself without one.

    Examples
    --------
    >>> float(DsprogSampler().sample_ising({"a": 0.5}, {("a", "b"): -1.0}).first.energy)
    -1.5
    """

    def __init__(self, solver: Solver | None = None) -> None:
        self.solver = solver
        self._parameters: dict[str, list[str]] = {name: [] for name in ("num_reads", "gap", *LIMITS)}

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The options of :meth:`sample`."""
        return self._parameters

    @property
    def properties(self) -> dict[str, Any]:
        """Nothing beyond its options."""
        return {}

    def sample(
        self,
        bqm: Any,
        num_reads: int = 1,
        *,
        gap: float = 0.0,
        time_limit: float | None = None,
        node_limit: int | None = None,
        seed: int | None = None,
        verbose: int = 0,
        **unknown: Any,
    ) -> Any:
        """The ``num_reads`` states of least energy, each once.

        ``info`` has ``certified``, ``lower_bound`` and ``gap`` (of the best state), ``status``, ``message``,
        ``solver``, ``nodes`` and ``seconds``. The other options are those of :func:`dsprog.minimize`; ``gap`` is for
        one state only.
        """
        self.remove_unknown_kwargs(**unknown)
        model = dimod.as_bqm(bqm)
        limits = dict(zip(LIMITS, (time_limit, node_limit, seed, verbose)))
        if as_count(num_reads, "num_reads", least=1) == 1:
            found: Any = minimize(qubo(model), self.solver, gap=gap, **limits)  # type: ignore[arg-type]
            sets = [found.S] if found.status != "infeasible" else []
        else:
            found = enumerate_best(qubo(model), num_reads, solver=self.solver, **limits)  # type: ignore[arg-type]
            sets = list(found.sets)
        told = ("certified", "lower_bound", "gap", "status", "message", "solver", "nodes", "seconds")
        return as_sample_set(model, sets, {name: getattr(found, name) for name in told})


def as_sample_set(model: Any, sets: list[tuple[int, ...]], info: dict[str, Any]) -> Any:
    """Sets as states of the model's variables, in its own kind, with energies that dimod computes."""
    binary = np.zeros((len(sets), model.num_variables), dtype=np.int8)
    for row, S in zip(binary, sets):
        row[list(S)] = 1
    states = binary if model.vartype is dimod.BINARY else 2 * binary - 1
    return dimod.SampleSet.from_samples_bqm((states, list(model.variables)), model, info=info)


def to_dimod(f: SetFunction) -> Any:
    """A quadratic set function as a ``dimod.BinaryQuadraticModel`` of 0/1 variables, its labels as their names.

    >>> import dsprog as ds
    >>> float(to_dimod(ds.Cut([[0, 2], [2, 0]], labels=["a", "b"])).energy({"a": 1, "b": 0}))
    2.0
    """
    form = f.quadratic_form()
    if form is None:
        raise ValueError(f"f must be quadratic, such as a sum of Cut, Pairwise and Modular, got {f!r}")
    names = f.element_labels or tuple(range(f.n))
    pairs = form.pairs.tocoo()
    quadratic = {(names[i], names[j]): float(a) for i, j, a in zip(pairs.row, pairs.col, pairs.data) if i < j}
    linear = {name: float(a) for name, a in zip(names, form.u)}
    return dimod.BinaryQuadraticModel(linear, quadratic, float(form.constant), dimod.BINARY)
