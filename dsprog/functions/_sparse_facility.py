"""Kernels of facility location for benefits in compressed columns, where 0 is not stored."""

from __future__ import annotations

import numpy as np

from dsprog.core.kernel import kernel


@kernel
def sparse_marginals_kernel(indptr, rows, data, clients, masks, among, out):
    """Outsiders gain over the best, members over the second best where they are the best."""
    first, second = np.empty(clients), np.empty(clients)
    for b in range(len(masks)):
        for i in range(clients):
            first[i] = second[i] = 0.0
        for j in range(masks.shape[1]):
            if masks[b, j]:
                for p in range(indptr[j], indptr[j + 1]):
                    i = rows[p]
                    second[i] = max(second[i], min(data[p], first[i]))
                    first[i] = max(first[i], data[p])
        for j in range(masks.shape[1]):
            total = 0.0
            if among[b, j]:
                for p in range(indptr[j], indptr[j + 1]):
                    i = rows[p]
                    if not masks[b, j]:
                        total += max(0.0, data[p] - first[i])
                    elif data[p] == first[i]:
                        total += first[i] - second[i]
            out[b, j] = total


@kernel
def sparse_chains_kernel(indptr, rows, data, clients, orders, start, out):
    """Gains over the running best."""
    best = np.empty(clients)
    for b in range(len(orders)):
        for i in range(clients):
            best[i] = 0.0
        for j in range(start.shape[1]):
            if start[b, j]:
                for p in range(indptr[j], indptr[j + 1]):
                    best[rows[p]] = max(best[rows[p]], data[p])
        for k in range(orders.shape[1]):
            j, total = orders[b, k], 0.0
            if j >= 0:
                for p in range(indptr[j], indptr[j + 1]):
                    gain = max(0.0, data[p] - best[rows[p]])
                    total += gain
                    best[rows[p]] += gain
            out[b, k] = total


@kernel
def sparse_thresholds_kernel(indptr, facilities, data, x, out):
    """The benefit at which a client, taking fractions x_j in falling order, has one unit; 0 if never."""
    for b in range(len(x)):
        for i in range(len(indptr) - 1):
            left = 1.0
            out[b, i] = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                left -= x[b, facilities[p]]
                if left <= 0:
                    out[b, i] = data[p]
                    break


@kernel
def sparse_excess_kernel(indptr, rows, data, thresholds, slopes):
    """Σ_i max(0, s_ij - τ_i) for every j."""
    for b in range(len(thresholds)):
        for j in range(slopes.shape[1]):
            total = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                total += max(0.0, data[p] - thresholds[b, rows[p]])
            slopes[b, j] = total
