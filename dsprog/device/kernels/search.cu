// The steps of a search at each node (dsprog/exact/interval): the same as its kernels for the host.

// The free elements in falling order of x, -1 after them. An element's place is the number of those that go before it.
KERNEL sort_free(int teams, int n, const double *x, const bool *I, const bool *U, int *orders) {
  NODE
  double *point = (double *)SHARED(n * (sizeof(double) + sizeof(int)));
  int *list = (int *)(point + n);
  int count = 0;
  for (int first = 0; first < n; first += LANES) {
    const int j = first + lane;
    const size_t at = (size_t)b * n + j;
    if (j < n) point[j] = x[at];
    count = append(j < n && U[at] && !I[at], j, list, count);
  }
  TOGETHER();
  for (int p = lane; p < n; p += LANES) {
    if (p >= count) {
      orders[(size_t)b * n + p] = -1;
      continue;
    }
    const double mine = point[list[p]];
    int place = 0;
    for (int q = 0; q < count; q++) {
      const double other = point[list[q]];
      place += other > mine || (other == mine && q < p);
    }
    orders[(size_t)b * n + place] = list[p];
  }
}

// Add each node's new minorant to its average; write its slopes d and its value at x.
KERNEL average(int teams, int n, const int *orders, const double *increments, const double *f_I, const double *constants,
               const double *slopes, const bool *I, const double *x, long long *count, double *mean_constant,
               double *mean_d, double *d, double *value) {
  NODE
  const size_t row = (size_t)b * n;
  const double weight = 2.0 / (count[b] + 2.0);
  double fixed = 0.0;
  for (int j = lane; j < n; j += LANES) {
    d[row + j] = 0.0;
    if (I[row + j]) fixed += slopes[row + j];
  }
  const double constant = f_I[b] - constants[b] - sum_of_lanes(fixed);
  TOGETHER();
  double total = 0.0;
  for (int p = lane; p < n; p += LANES) {
    const int j = orders[row + p];
    if (j < 0) continue;
    const double slope = increments[row + p] - slopes[row + j];
    d[row + j] = slope;
    total += slope * x[row + j];
    mean_d[row + j] += weight * (slope - mean_d[row + j]);
  }
  total = sum_of_lanes(total);
  TOGETHER();
  if (lane == 0) {
    count[b] += 1;
    mean_constant[b] += weight * (constant - mean_constant[b]);
    value[b] = constant + total;
  }
}

// Polyak's step x <- clip(x - (value - lower) d / |d|^2), over the coordinates that can still move along -d.
KERNEL step(int teams, int n, const double *d, const double *value, const double *lower, double *x) {
  NODE
  const size_t row = (size_t)b * n;
  double norm = 0.0;
  for (int j = lane; j < n; j += LANES) {
    const double slope = d[row + j], at = x[row + j];
    if (!(slope > 0 && at <= 0) && !(slope < 0 && at >= 1)) norm += slope * slope;
  }
  norm = sum_of_lanes(norm);
  if (norm > 0) {
    const double length = (value[b] - lower[b]) / norm;
    for (int j = lane; j < n; j += LANES) x[row + j] = fmin(1.0, fmax(0.0, x[row + j] - length * d[row + j]));
  }
}

// Fix what every feasible set of an interval has, or omits, until nothing moves. lo and hi have their tolerance already;
// slack is what rounding may hide in the sum of any set of the interval. All that a row fixes at once is fixed at once.
KERNEL propagate(int teams, int n, int rows, double rounding, const double *A, const double *lo, const double *hi,
                 const bool *I, const bool *U, bool *include, bool *exclude, bool *feasible) {
  NODE
  const size_t row = (size_t)b * n;
  bool moving = true, possible = true;
  while (moving && possible) {
    moving = false;
    for (int r = 0; r < rows && possible; r++) {
      const double *a = A + (size_t)r * n;
      double least = 0.0, most = 0.0, size = 0.0;
      for (int j = lane; j < n; j += LANES) {
        if (I[row + j] || include[row + j]) {
          least += a[j];
          most += a[j];
          size += fabs(a[j]);
        } else if (U[row + j] && !exclude[row + j]) {
          least += fmin(0.0, a[j]);
          most += fmax(0.0, a[j]);
          size += fabs(a[j]);
        }
      }
      least = sum_of_lanes(least);
      most = sum_of_lanes(most);
      const double slack = rounding * sum_of_lanes(size);
      if (least > hi[r] + slack || most < lo[r] - slack) {
        possible = false;
        break;
      }
      bool fixed = false;
      for (int j = lane; j < n; j += LANES) {
        if (a[j] == 0 || !U[row + j] || I[row + j] || include[row + j] || exclude[row + j]) continue;
        const bool too_high = least + fabs(a[j]) > hi[r] + slack;  // the costly choice of j breaks the upper limit
        const bool too_low = most - fabs(a[j]) < lo[r] - slack;    // the cheap one breaks the lower limit
        const bool out = (too_high && a[j] > 0) || (too_low && a[j] < 0);
        const bool in = !out && ((too_high && a[j] < 0) || (too_low && a[j] > 0));
        if (out) exclude[row + j] = true;
        if (in) include[row + j] = true;
        fixed = fixed || out || in;
      }
      TOGETHER();
      moving = any_of_lanes(fixed) || moving;
    }
  }
  if (lane == 0) feasible[b] = possible;
}

// The multiplier of one row that maximises the minimum over the cube of d x + multiplier (a x - limit), and that limit:
// Dantzig's rule, as row_multiplier of dsprog/core/rows.py. prices is room for n numbers.
DEVICE double row_multiplier(int n, int lane, const double *a, double lo, double hi, double rounding, const bool *I,
                             const bool *U, const double *d, double *prices, double *limit) {
  double activity = 0.0, size = 0.0;
  for (int j = lane; j < n; j += LANES) {
    if (U[j]) size += fabs(a[j]);
    if (I[j] || (U[j] && d[j] < 0)) activity += a[j];
  }
  activity = sum_of_lanes(activity);
  const double slack = rounding * sum_of_lanes(size);
  double sign, excess;
  if (activity > hi + slack) {
    sign = 1.0, excess = activity - hi, *limit = hi;
  } else if (activity < lo - slack) {
    sign = -1.0, excess = lo - activity, *limit = lo;
  } else {
    return 0.0;
  }
  for (int j = lane; j < n; j += LANES) {
    const bool back = U[j] && !I[j] && a[j] != 0 && (d[j] < 0) == (sign * a[j] > 0);
    prices[j] = back ? fabs(d[j]) / fabs(a[j]) : INFINITE;
  }
  TOGETHER();
  while (true) {
    double least = INFINITE;
    for (int j = lane; j < n; j += LANES) least = fmin(least, prices[j]);
    least = least_of_lanes(least);
    if (least == INFINITE) return INFINITE;
    double taken = 0.0;
    for (int j = lane; j < n; j += LANES)
      if (prices[j] == least) {  // choices of one price come together: the multiplier is the same
        taken += fabs(a[j]);
        prices[j] = INFINITE;
      }
    excess -= sum_of_lanes(taken);
    TOGETHER();
    if (excess <= slack) return sign * least;
  }
}

// Bounds and reduced costs of minorants under the rows: all rows if disjoint, else the best one.
KERNEL relax(int teams, int n, int rows, double rounding, const double *A, const double *lo, const double *hi,
             int disjoint, const bool *I, const bool *U, const double *constants, const double *d, double *out_bound,
             double *out_d) {
  NODE
  double *prices = (double *)SHARED(n * sizeof(double));
  const size_t row = (size_t)b * n;
  double constant = constants[b], best = 0.0;
  for (int j = lane; j < n; j += LANES) {
    out_d[row + j] = d[row + j];
    if (U[row + j] && !I[row + j]) best += fmin(0.0, d[row + j]);
  }
  best = constant + sum_of_lanes(best);
  TOGETHER();
  for (int r = 0; r < rows; r++) {
    const double *a = A + (size_t)r * n;
    const double *from = (disjoint ? out_d : d) + row;
    double limit = 0.0;
    const double multiplier = row_multiplier(n, lane, a, lo[r], hi[r], rounding, I + row, U + row, from, prices, &limit);
    if (fabs(multiplier) == INFINITE) {
      best = INFINITE;
      break;
    }
    if (multiplier == 0) continue;
    double fixed = 0.0, change = 0.0;
    for (int j = lane; j < n; j += LANES) {
      if (I[row + j]) fixed += a[j];
      if (U[row + j] && !I[row + j]) change += fmin(0.0, from[j] + multiplier * a[j]);
    }
    const double base = (disjoint ? constant : constants[b]) + multiplier * (sum_of_lanes(fixed) - limit);
    const double bound = base + sum_of_lanes(change);
    if (bound > best) {
      best = bound;
      if (disjoint) constant = base;
      for (int j = lane; j < n; j += LANES) out_d[row + j] = from[j] + multiplier * a[j];
    }
    TOGETHER();
  }
  if (lane == 0) out_bound[b] = best;
}
