// Sums of concave functions of weights: f(S) = sum over k of weights[k] * phi(W_k(S)).
// A lane has every LANES-th group; PER_LANE is how many that are, so that their sums stay in registers.

DEVICE double phi(int code, double parameter, double t) {
  if (code == 0) return sqrt(t);
  if (code == 1) return log1p(t);
  if (code == 2) return t > 0 ? pow(t, parameter) : (parameter == 0 ? 1.0 : 0.0);
  return fmin(t, parameter);
}

// One loop for each phi: the code is the same for all lanes, and a loop without a choice inside can be unrolled.
DEVICE double sum_of_phi(int code, double parameter, const double *weights, int K, int lane, const double *t) {
  double total = 0.0;
  if (code == 0) {
UNROLL
    for (int q = 0; q < PER_LANE; q++) {
      const int k = lane + q * LANES;
      if (k < K) total += weights[k] * sqrt(t[q]);
    }
  } else {
    for (int q = 0; q < PER_LANE; q++) {
      const int k = lane + q * LANES;
      if (k < K) total += weights[k] * phi(code, parameter, t[q]);
    }
  }
  return sum_of_lanes(total);
}

DEVICE void add_column(const double *column, int K, int lane, double *t) {
UNROLL
  for (int q = 0; q < PER_LANE; q++) {
    const int k = lane + q * LANES;
    if (k < K) t[q] += column[k];
  }
}

// Increments along orders, the sums carried along. columns is (n, K), W transposed.
KERNEL concave_chains(int teams, int n, int m, int K, int code, double parameter, const double *weights,
                      const double *columns, const int *orders, const bool *start, double *out) {
  NODE
  double t[PER_LANE];
UNROLL
  for (int q = 0; q < PER_LANE; q++) t[q] = 0.0;
  for (int j = 0; j < n; j++)
    if (start[(size_t)b * n + j]) add_column(columns + (size_t)j * K, K, lane, t);
  double before = sum_of_phi(code, parameter, weights, K, lane, t);
  for (int p = 0; p < m; p++) {
    const int j = orders[(size_t)b * m + p];
    double increment = 0.0;
    if (j >= 0) {
      add_column(columns + (size_t)j * K, K, lane, t);
      const double after = sum_of_phi(code, parameter, weights, K, lane, t);
      increment = after - before;
      before = after;
    }
    if (lane == 0) out[(size_t)b * m + p] = increment;
  }
}

// Marginals: the sums at S are shared, and every lane has elements of its own. W is (K, n), sums of lists of elements.
KERNEL concave_marginals(int teams, int n, int K, int code, double parameter, const double *weights, const double *W,
                         const double *columns, const bool *masks, const bool *among, double *out) {
  NODE
  double *sums = (double *)SHARED(K * sizeof(double) + n * sizeof(int));
  int *list = (int *)(sums + K);
  const bool *mask = masks + (size_t)b * n;
  double t[PER_LANE];
UNROLL
  for (int q = 0; q < PER_LANE; q++) t[q] = 0.0;
  for (int j = 0; j < n; j++)
    if (mask[j]) add_column(columns + (size_t)j * K, K, lane, t);
  const double here = sum_of_phi(code, parameter, weights, K, lane, t);
UNROLL
  for (int q = 0; q < PER_LANE; q++)
    if (lane + q * LANES < K) sums[lane + q * LANES] = t[q];
  int count = 0;
  for (int first = 0; first < n; first += LANES) {
    const int j = first + lane;
    count = append(j < n && among[(size_t)b * n + j], j, list, count);
  }
  TOGETHER();
  for (int p = lane; p < count; p += LANES) {
    const int j = list[p];
    const double sign = mask[j] ? -1.0 : 1.0;
    double there = 0.0;
    for (int k = 0; k < K; k++) {
      double u = fmax(0.0, sums[k] + sign * W[(size_t)k * n + j]);
      if (mask[j] && u < 1e-5 * sums[k]) {  // almost nothing is left: sum it up again, since phi may be steep there
        u = 0.0;
        for (int i = 0; i < n; i++)
          if (mask[i] && i != j) u += W[(size_t)k * n + i];
      }
      there += weights[k] * (code == 0 ? sqrt(u) : phi(code, parameter, u));
    }
    out[(size_t)b * n + j] = sign * (there - here);
  }
}

DEVICE double slope_of_phi(int code, double parameter, double t) {
  if (code == 0) return 0.5 / sqrt(t);
  if (code == 1) return 1.0 / (1.0 + t);
  if (code == 2) return parameter * pow(t, parameter - 1.0);
  return t < parameter ? 1.0 : 0.0;
}

// The line that touches phi at t = W_k x, with the bent secant of phi on [0, smallest_k]: its slope times the weight of
// the group, and its value at 0.
KERNEL concave_lines(int teams, int K, int code, double parameter, double at_zero, const double *weights,
                     const double *smallest, const double *rise, const double *bend, const double *t, double *slopes,
                     double *heights) {
  NODE
  for (int k = lane; k < K; k += LANES) {
    const size_t at = (size_t)b * K + k;
    const double here = t[at], least = smallest[k];
    double slope, value;
    if (here < least || here == 0) {
      slope = rise[k] + 0.5 * bend[k] * (least - 2.0 * here);
      value = at_zero + rise[k] * here + 0.5 * bend[k] * here * (least - here);
    } else {
      slope = slope_of_phi(code, parameter, here);
      value = phi(code, parameter, here);
    }
    slopes[at] = weights[k] * slope;
    heights[at] = weights[k] * (value - slope * here);
  }
}
