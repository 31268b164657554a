// Facility location: sum over clients i of the largest s_ij, j in S. columns is (n, clients), similarity (clients, n).

// The largest and the second largest similarity of each client over a set; 0 where there is none.
KERNEL facility_best_two(int teams, int n, int clients, const double *columns, const bool *masks, double *first,
                         double *second) {
  NODE
  for (int i = lane; i < clients; i += LANES) {
    double best = 0.0, next = 0.0;
    for (int j = 0; j < n; j++)
      if (masks[(size_t)b * n + j]) {
        const double s = columns[(size_t)j * clients + i];
        next = fmax(next, fmin(s, best));
        best = fmax(best, s);
      }
    first[(size_t)b * clients + i] = best;
    second[(size_t)b * clients + i] = next;
  }
}

// sum over i of max(0, s_ij - threshold_i), for every j: what an outsider gains over the best, or a tangent's slope.
KERNEL facility_excess(int teams, int n, int clients, const double *similarity, const double *thresholds, double *out) {
  NODE
  for (int j = lane; j < n; j += LANES) {
    double total = 0.0;
    for (int i = 0; i < clients; i++)
      total += fmax(0.0, similarity[(size_t)i * n + j] - thresholds[(size_t)b * clients + i]);
    out[(size_t)b * n + j] = total;
  }
}

// Members lose the difference of the two best where they are the best.
KERNEL facility_losses(int teams, int n, int clients, const double *similarity, const double *first,
                       const double *second, const bool *masks, double *out) {
  NODE
  for (int j = lane; j < n; j += LANES) {
    if (!masks[(size_t)b * n + j]) continue;
    double total = 0.0;
    for (int i = 0; i < clients; i++) {
      const double best = first[(size_t)b * clients + i];
      if (similarity[(size_t)i * n + j] == best) total += best - second[(size_t)b * clients + i];
    }
    out[(size_t)b * n + j] = total;
  }
}

// Gains over the running best along orders.
KERNEL facility_chains(int teams, int n, int m, int clients, const double *columns, const int *orders,
                       const bool *start, double *out) {
  NODE
  double best[PER_LANE];
UNROLL
  for (int q = 0; q < PER_LANE; q++) best[q] = 0.0;
  for (int j = 0; j < n; j++)
    if (start[(size_t)b * n + j]) {
UNROLL
      for (int q = 0; q < PER_LANE; q++) {
        const int i = lane + q * LANES;
        if (i < clients) best[q] = fmax(best[q], columns[(size_t)j * clients + i]);
      }
    }
  for (int p = 0; p < m; p++) {
    const int j = orders[(size_t)b * m + p];
    double total = 0.0;
    if (j >= 0) {
UNROLL
      for (int q = 0; q < PER_LANE; q++) {
        const int i = lane + q * LANES;
        if (i < clients) {
          const double gain = fmax(0.0, columns[(size_t)j * clients + i] - best[q]);
          total += gain;
          best[q] += gain;
        }
      }
    }
    total = sum_of_lanes(total);
    if (lane == 0) out[(size_t)b * m + p] = total;
  }
}

// The similarity at which a client, taking fractions x_j in falling order, has one unit; 0 if never.
KERNEL facility_thresholds(int teams, int n, int clients, const double *similarity, const int *ranking, const double *x,
                           double *out) {
  NODE
  double *point = (double *)SHARED(n * sizeof(double));
  for (int j = lane; j < n; j += LANES) point[j] = x[(size_t)b * n + j];
  TOGETHER();
  for (int i = lane; i < clients; i += LANES) {
    double left = 1.0, threshold = 0.0;
    for (int r = 0; r < n; r++) {
      const int j = ranking[(size_t)r * clients + i];
      left -= point[j];
      if (left <= 0) {
        threshold = similarity[(size_t)i * n + j];
        break;
      }
    }
    out[(size_t)b * clients + i] = threshold;
  }
}
