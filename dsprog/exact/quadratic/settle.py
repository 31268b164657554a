"""First-order persistency of a partial labelling, cheap enough for every node."""

from __future__ import annotations

from dsprog.core.kernel import kernel
from dsprog.core.quadratic_form import QuadraticForm
from dsprog.core.validation import Ints


@kernel
def settle_kernel(u, indptr, indices, data, labels):
    """Fix free variables whose change has one sign whatever the free others do: some optimum has them so.

    x_j = 0 if u_j + Σ_{ones} P_ij + Σ_{free} min(0, P_ij) >= 0, and 1 if the same with max is <= 0.
    """
    moving = True
    while moving:
        moving = False
        for j in range(len(u)):
            if labels[j] >= 0:
                continue
            least = most = u[j]
            for p in range(indptr[j], indptr[j + 1]):
                label = labels[indices[p]]
                if label == 1:
                    least += data[p]
                    most += data[p]
                elif label < 0:
                    least += min(0.0, data[p])
                    most += max(0.0, data[p])
            if least >= 0 or most <= 0:
                labels[j] = 0 if least >= 0 else 1
                moving = True


def settled(form: QuadraticForm, labels: Ints) -> Ints:
    """A copy of the labels with everything fixed that follows."""
    labels = labels.copy()
    settle_kernel(*form.compiled, labels)
    return labels
