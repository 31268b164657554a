// Increments of u(S) + sum over pairs i < j in S of P_ij along orders: the field u + P S is carried along.
KERNEL quadratic_chains(int teams, int n, int m, const double *u, const double *P, const int *orders, const bool *start,
                        double *out) {
  NODE
  double *field = (double *)SHARED(n * sizeof(double));
  for (int j = lane; j < n; j += LANES) {
    double total = u[j];
    for (int i = 0; i < n; i++)
      if (start[(size_t)b * n + i]) total += P[(size_t)i * n + j];
    field[j] = total;
  }
  TOGETHER();
  for (int p = 0; p < m; p++) {
    const int i = orders[(size_t)b * m + p];
    const double increment = i >= 0 ? field[i] : 0.0;
    TOGETHER();
    if (lane == 0) out[(size_t)b * m + p] = increment;
    if (i >= 0)
      for (int j = lane; j < n; j += LANES) field[j] += P[(size_t)i * n + j];
    TOGETHER();
  }
}

// Tangents of the concave extension, pair by pair: P min(x_i, x_j) for P > 0, P max(0, x_i + x_j - 1) for P < 0.
// A lane has elements of its own and takes half of what a pair gives to the constant.
KERNEL quadratic_tangents(int teams, int n, const double *u, const double *P, const double *x, double *constants,
                          double *slopes) {
  NODE
  const double *point = x + (size_t)b * n;
  double constant = 0.0;
  for (int j = lane; j < n; j += LANES) {
    double slope = u[j];
    for (int i = 0; i < n; i++) {
      const double weight = P[(size_t)i * n + j];
      if (weight > 0) {
        if (point[j] < point[i] || (point[j] == point[i] && j < i)) slope += weight;
      } else if (point[i] + point[j] > 1) {
        slope += weight;
        constant -= 0.5 * weight;
      }
    }
    slopes[(size_t)b * n + j] = slope;
  }
  constant = sum_of_lanes(constant);
  if (lane == 0) constants[b] = constant;
}
