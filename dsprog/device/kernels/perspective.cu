// The search of penalised least squares at each node (dsprog/exact/regression): a block has a node, and its teams
// share the descents of boxes and probes among them. The bounds and their reasons are those of the modules named below;
// what is different is said here.
//
// Macros: PER_LANE, the features that a lane has; HISTORY, points between two looks at a bound; TEAMS, of a block; and,
// as the host has them, CANDIDATES for branching, TRIALS of a diagonal, SWEEPS and PROBE_SWEEPS of a descent.

#define ROUNDS (HISTORY - 1)
enum Status { CLOSED, OPEN, COMPLETE, FAILED };

// What all nodes have in common: the loss 1/2 w'Gw - b'w + c, and the numbers of the search.
struct Search {
  int n;
  const double *G, *b;
  double c, shift, floor, cutoff;
};

// The relaxation of the node of this block (perspective_bound.py): M is G' of its m free features, rows ld apart.
struct Relaxed {
  int m, ld;
  const double *M;
  double c;
  double *b, *d, *D, *lo, *hi;
  double *shape;  // six rows of n: knees and slopes of both sides, 1 / H_jj, 1 / G_jj
  int n;
};

// One descent: a feature that is forced or left out (or -1), the shift of its b, and the diagonal D + part (goal - D).
struct Task {
  int forced, out;
  double eta, part;
  const double *goal;
};

struct Limits {
  double cutoff, accuracy;
  int sweeps;
};

// What a lane has of a feature while a descent goes over it.
struct Feature {
  double b, G, lo, hi, knee[2], slope[2], inverse[2];  // 1 / H_jj, 1 / G_jj
};

DEVICE double diagonal(const Relaxed &p, const Task &task, int j) {
  return task.goal ? p.D[j] + task.part * (task.goal[j] - p.D[j]) : p.D[j];
}

DEVICE double knee(double d, double D, double least, double most) { return fmin(fmax(sqrt(d / D), least), most); }

// Knees and slopes of h_j, positive side first, and what a step divides by.
DEVICE void shape(const Relaxed &p, int j, double d, double D, double lo, double hi, double *knees, double *slopes,
                  double *inverses) {
  const double G = p.M[(size_t)j * p.ld + j];
  for (int side = 0; side < 2; side++) {
    const double least = fmax(side == 0 ? lo : -hi, 0.0), most = side == 0 ? hi : -lo, s = knee(d, D, least, most);
    knees[side] = s;
    slopes[side] = most <= 0.0 ? INFINITE : s > 0.0 ? d / s + D * s : 0.0;
  }
  inverses[0] = 1.0 / (G - 2.0 * D), inverses[1] = 1.0 / G;
}

// The same where all descents of a node find it.
DEVICE void keep_shape(const Relaxed &p, int j) {
  double knees[2], slopes[2], inverses[2];
  shape(p, j, p.d[j], p.D[j], p.lo[j], p.hi[j], knees, slopes, inverses);
  for (int k = 0; k < 2; k++)
    p.shape[k * p.n + j] = knees[k], p.shape[(2 + k) * p.n + j] = slopes[k], p.shape[(4 + k) * p.n + j] = inverses[k];
}

DEVICE void keep_shapes(const Relaxed &p) {
  for (int j = THREAD; j < p.m; j += THREADS) keep_shape(p, j);
  ALL_TOGETHER();
}

DEVICE Feature feature(const Relaxed &p, const Task &task, int j) {
  Feature f;
  f.b = p.b[j], f.G = p.M[(size_t)j * p.ld + j], f.lo = p.lo[j], f.hi = p.hi[j];
  if (task.goal) {
    shape(p, j, p.d[j], diagonal(p, task, j), f.lo, f.hi, f.knee, f.slope, f.inverse);
    return f;
  }
  for (int k = 0; k < 2; k++)
    f.knee[k] = p.shape[k * p.n + j], f.slope[k] = p.shape[(2 + k) * p.n + j], f.inverse[k] = p.shape[(4 + k) * p.n + j];
  if (j == task.forced) {
    f.b += task.eta;
    f.knee[0] = fmax(f.lo, 0.0), f.knee[1] = fmax(-f.hi, 0.0), f.slope[0] = f.slope[1] = 0.0;
  }
  if (j == task.out) f.lo = f.hi = f.knee[0] = f.knee[1] = 0.0, f.slope[0] = f.slope[1] = INFINITE;
  return f;
}

// h(t), the convex hull of 0 and D t^2 + d.
DEVICE double hull(double t, double d, double D, double lo, double hi) {
  const double least = fmax(t > 0.0 ? lo : -hi, 0.0), most = t > 0.0 ? hi : -lo, size = fabs(t);
  const double s = knee(d, D, least, most);
  if (size < s) return (d / s + D * s) * size;
  return size > 0.0 ? D * t * t + d : 0.0;
}

// One round of coordinate descent, Gw following w; the largest G_jj (change of w_j)^2. What lanes beyond the last feature
// read and write means nothing.
DEVICE double sweep(const Relaxed &p, const Task &task, bool support_only, double *w, double *Gw, int lane) {
  double largest = 0.0;
  UNROLL for (int i = 0; i < PER_LANE; i++) {
    const int own = lane + LANES * i;
    unsigned todo = lanes_where(own < p.m && !(support_only && w[i] == 0.0));
    if (!todo) continue;
    const Feature f = feature(p, task, own < p.m ? own : 0);
    const double *rows = p.M + (size_t)LANES * i * p.ld + lane;
    while (todo) {
      const int turn = first_lane(todo);
      todo &= todo - 1;
      const double r = f.b - Gw[i] + f.G * w[i], size = fabs(r);
      const bool up = r > 0.0;
      double now = (size - (up ? f.slope[0] : f.slope[1])) * f.inverse[0];
      if (now > (up ? f.knee[0] : f.knee[1]))  // beyond the line: on the parabola
        now = fmin(fmax(size * f.inverse[1], up ? f.knee[0] : f.knee[1]), up ? f.hi : -f.lo);
      else if (!(now > 0.0))
        now = 0.0;
      const double step = (up ? now : -now) - w[i], change = of_lane(step, turn);
      if (change == 0.0) continue;
      if (lane == turn) w[i] += step, largest = fmax(largest, f.G * step * step);
      const double *row = rows + (size_t)turn * p.ld;
      UNROLL for (int k = 0; k < PER_LANE; k++)
        if (LANES > 1 || k < p.m) Gw[k] += row[LANES * k] * change;
    }
  }
  return most_of_lanes(largest);
}

// LB at w, and how far below the relaxation's value at w it lies; gains are left in val, if there is one.
DEVICE double bound(const Relaxed &p, const Task &task, const double *w, const double *Gw, double *excess, int lane,
                    double *val = nullptr) {
  double lower = 0.0, above = 0.0;
  UNROLL for (int i = 0; i < PER_LANE; i++) {
    const int j = lane + LANES * i;
    if (j >= p.m) continue;
    const double D = diagonal(p, task, j), d = p.d[j];
    const double lo = j == task.out ? 0.0 : p.lo[j], hi = j == task.out ? 0.0 : p.hi[j];
    lower -= 0.5 * w[i] * Gw[i] - D * w[i] * w[i];
    const double v = p.b[j] + (j == task.forced ? task.eta : 0.0) - Gw[i] + 2.0 * D * w[i];
    const double t = fmin(fmax(v / (2.0 * D), lo), hi);
    const double most = v * t - D * t * t - d, gain = j == task.forced ? most : fmax(0.0, most);
    if (val) val[j] = most;
    const double height = j == task.forced ? D * w[i] * w[i] + d : hull(w[i], d, D, lo, hi);
    lower -= gain;
    above += height + gain - v * w[i];
  }
  *excess = sum_of_lanes(above);
  return p.c + sum_of_lanes(lower);
}

// The affine combination of consecutive points whose steps cancel best (Anderson), into w and Gw; false if it is wild.
DEVICE bool extrapolate(const double *history, int n, int m, double *w, double *Gw, int lane) {
  double A[ROUNDS][ROUNDS + 1], trace = 0.0, total = 0.0, size = 0.0;
  for (int i = 0; i < ROUNDS; i++)
    for (int k = 0; k <= i; k++) {
      double dot = 0.0;
      for (int j = lane; j < m; j += LANES)
        dot += (history[(i + 1) * n + j] - history[i * n + j]) * (history[(k + 1) * n + j] - history[k * n + j]);
      A[i][k] = A[k][i] = sum_of_lanes(dot);
    }
  for (int i = 0; i < ROUNDS; i++) A[i][ROUNDS] = 1.0, trace += A[i][i];
  for (int i = 0; i < ROUNDS; i++) A[i][i] += 1e-10 * trace;
  for (int i = 0; i < ROUNDS; i++) {
    if (!(A[i][i] > 0.0)) return false;
    for (int k = 0; k < ROUNDS; k++) {
      if (k == i) continue;
      const double scale = A[k][i] / A[i][i];
      for (int l = i; l <= ROUNDS; l++) A[k][l] -= scale * A[i][l];
    }
  }
  for (int i = 0; i < ROUNDS; i++) total += A[i][ROUNDS] / A[i][i], size += fabs(A[i][ROUNDS] / A[i][i]);
  if (!(size < 100.0 * fabs(total))) return false;
  const double *products = history + HISTORY * n;
  UNROLL for (int i = 0; i < PER_LANE; i++) {
    const int j = lane + LANES * i;
    w[i] = Gw[i] = 0.0;
    if (j >= m) continue;
    for (int k = 0; k < ROUNDS; k++) {
      const double a = A[k][ROUNDS] / A[k][k] / total;
      w[i] += a * history[(k + 1) * n + j], Gw[i] += a * products[(k + 1) * n + j];
    }
  }
  return true;
}

// Coordinate descent from w until LB is near the relaxation's value or reaches the cutoff; returns LB. history is room
// for 2 * HISTORY * n numbers.
DEVICE double descend(const Relaxed &p, const Task &task, const Limits &limits, double *w, double *Gw, double *history, int n,
                      int lane) {
  double lower = -INFINITE, excess, rest, leap[PER_LANE], leap_Gw[PER_LANE];
  int done = 0;
  while (done < limits.sweeps) {
    bool settled = false;
    for (int k = 0; k <= ROUNDS; k++) {  // the first round is over all features
      const double moved = sweep(p, task, k > 0, w, Gw, lane);
      done += k > 0;
      if (k && moved < 1e-3 * limits.accuracy) {
        settled = true;
        break;
      }
      UNROLL for (int i = 0; i < PER_LANE; i++) {
        const int j = lane + LANES * i;
        if (j < p.m) history[k * n + j] = w[i], history[(HISTORY + k) * n + j] = Gw[i];
      }
    }
    lower = bound(p, task, w, Gw, &excess, lane);
    if (lower >= limits.cutoff || excess < limits.accuracy) break;
    if (settled || !extrapolate(history, n, p.m, leap, leap_Gw, lane)) continue;
    const double further = bound(p, task, leap, leap_Gw, &rest, lane);
    if (further + rest >= lower + excess) continue;
    UNROLL for (int i = 0; i < PER_LANE; i++) w[i] = leap[i], Gw[i] = leap_Gw[i];
    lower = further, excess = rest;
    if (lower >= limits.cutoff || excess < limits.accuracy) break;
  }
  return lower;
}

// This lane's part of w, and of Gw.
DEVICE void begin(const Relaxed &p, const double *from, double *w, double *Gw, int lane) {
  UNROLL for (int i = 0; i < PER_LANE; i++) w[i] = lane + LANES * i < p.m ? from[lane + LANES * i] : 0.0, Gw[i] = 0.0;
  for (int j = 0; j < p.m; j++) {
    const double size = from[j];
    if (size == 0.0) continue;
    UNROLL for (int k = 0; k < PER_LANE; k++)
      if (lane + LANES * k < p.m) Gw[k] += p.M[(size_t)j * p.ld + lane + LANES * k] * size;
  }
}

// -- dense linear algebra of a block; packed matrices have their lower triangle, row after row -------------------------

#define PACKED(i, j) ((i) * ((i) + 1) / 2 + (j))

// M - 2 diag(D + part (goal - D)) - shift, packed.
DEVICE void shifted(const Relaxed &p, const double *goal, double shift, double *P) {
  for (int i = 0; i < p.m; i++)
    for (int j = THREAD; j <= i; j += THREADS)
      P[PACKED(i, j)] = p.M[(size_t)i * p.ld + j] - (i == j ? 2.0 * (goal ? goal[i] : p.D[i]) + shift : 0.0);
  ALL_TOGETHER();
}

// Whether M - 2 diag(D) - shift has a Cholesky factor, which proves M - 2 diag(D) positive semidefinite (elimination.py).
DEVICE bool is_definite(const Relaxed &p, const double *goal, double shift, double *P, double *column) {
  shifted(p, goal, shift, P);
  for (int k = 0; k < p.m; k++) {
    const double pivot = P[PACKED(k, k)];
    if (!(pivot > 0.0)) {
      ALL_TOGETHER();
      return false;
    }
    const double root = 1.0 / sqrt(pivot);
    for (int i = k + 1 + THREAD; i < p.m; i += THREADS) column[i] = P[PACKED(i, k)] * root;
    ALL_TOGETHER();
    for (int i = k + 1 + THREAD / LANES; i < p.m; i += (THREADS + LANES - 1) / LANES)
      for (int j = k + 1 + THREAD % LANES; j <= i; j += LANES) P[PACKED(i, j)] -= column[i] * column[j];
    ALL_TOGETHER();
  }
  return true;
}

// Z = (M - 2 diag(D))^-1, packed, by sweeps; false if a pivot is not positive. No bound rests on it.
DEVICE bool inverse(const Relaxed &p, double shift, double *Z, double *column) {
  shifted(p, nullptr, shift, Z);
  for (int k = 0; k < p.m; k++) {
    const double pivot = Z[PACKED(k, k)], over = 1.0 / pivot;
    if (!(pivot > 0.0)) {
      ALL_TOGETHER();
      return false;
    }
    for (int i = THREAD; i < p.m; i += THREADS) column[i] = i < k ? Z[PACKED(k, i)] : Z[PACKED(i, k)];
    ALL_TOGETHER();
    for (int i = THREAD / LANES; i < p.m; i += (THREADS + LANES - 1) / LANES)
      for (int j = THREAD % LANES; j <= i; j += LANES) {
        double &entry = Z[PACKED(i, j)];
        if (i == k || j == k)
          entry = i == j ? -over : column[i == k ? j : i] * over;
        else
          entry -= column[i] * column[j] * over;
      }
    ALL_TOGETHER();
  }
  for (int i = THREAD; i < PACKED(p.m, 0); i += THREADS) Z[i] = -Z[i];
  ALL_TOGETHER();
  return true;
}

// One round of coordinate moves of the diagonal (diagonal.py), with S and the barrier mu; the new one is left in goal.
DEVICE bool raised(const Relaxed &p, const Search &all, const double *S, double mu, double *goal, double *Z,
                   double *column) {
  if (!inverse(p, all.shift, Z, column)) return false;
  for (int j = 0; j < p.m; j++) {
    const double room = 1.0 / Z[PACKED(j, j)], barrier = 2.0 * mu / fmax(S[j], 1e-300);
    const double move = fmin(fmax(room - barrier, 2.0 * (all.floor - p.D[j])), 0.999 * room);
    for (int i = THREAD; i < p.m; i += THREADS) column[i] = i < j ? Z[PACKED(j, i)] : Z[PACKED(i, j)];
    if (THREAD == 0) goal[j] = p.D[j] + 0.5 * move;
    ALL_TOGETHER();
    if (move != 0.0) {
      const double scale = move * room / (room - move);
      for (int i = THREAD / LANES; i < p.m; i += (THREADS + LANES - 1) / LANES)
        for (int k = THREAD % LANES; k <= i; k += LANES) Z[PACKED(i, k)] += scale * column[i] * column[k];
    }
    ALL_TOGETHER();
  }
  return is_definite(p, goal, all.shift, Z, column);
}

// -- one node -----------------------------------------------------------------------------------------------------------

// What a node keeps, by feature: rows of the arrays of all nodes.
struct Kept {
  bool *I, *U;
  double *d, *D, *S, *w, *lo, *hi;
};

// A block's shared memory.
struct Block {
  double *A, *P;  // G of chosen and free features; room for a packed matrix
  double *b, *d, *D, *S, *w, *lo, *hi, *val, *goal, *column;
  double *shape;  // of each feature (Relaxed)
  double *ends;   // bounds with and without each candidate; then of trials of the diagonal
  int *order;     // chosen features, then free ones
  int *picked;    // positions of candidates
  double *c, *lower;
  int *chosen, *free, *flag, *turn;
};

DEVICE Block block_of(char *room, int n, int ld) {
  Block s;
  double *at = (double *)room;
  s.A = at, at += (size_t)n * ld;
  s.P = at, at += PACKED(n, 0) > 2 * TRIALS * n ? PACKED(n, 0) : 2 * TRIALS * n;
  double **vectors[] = {&s.b, &s.d, &s.D, &s.S, &s.w, &s.lo, &s.hi, &s.val, &s.goal, &s.column};
  for (double **vector : vectors) *vector = at, at += n;
  s.shape = at, at += 6 * n;
  s.ends = at, at += 2 * CANDIDATES;
  s.c = at++, s.lower = at++;
  s.order = (int *)at;
  s.picked = s.order + n;
  s.chosen = s.picked + CANDIDATES, s.free = s.chosen + 1, s.flag = s.free + 1, s.turn = s.flag + 1;
  return s;
}

// Eliminate I (elimination.py) and gather what the free features have; false if G is singular on I.
DEVICE bool build(const Search &all, const Kept &node, Block &s, int ld, Relaxed &p) {
  const int n = all.n;
  if (THREAD == 0) {
    int k = 0, q;
    for (int j = 0; j < n; j++)
      if (node.I[j]) s.order[k++] = j;
    q = k;
    double constant = all.c;
    for (int j = 0; j < n; j++) {
      if (node.I[j])
        constant += node.d[j];
      else if (node.U[j])
        constant += fmin(node.d[j], 0.0), s.order[q++] = j;
    }
    *s.chosen = k, *s.free = q - k, *s.c = constant;
  }
  ALL_TOGETHER();
  const int k = *s.chosen, q = k + *s.free, warp = THREAD / LANES, lane = THREAD % LANES;
  const int warps = (THREADS + LANES - 1) / LANES;
  for (int i = warp; i < q; i += warps)
    for (int j = lane; j < q; j += LANES) s.A[i * ld + j] = all.G[(size_t)s.order[i] * n + s.order[j]];
  for (int i = THREAD; i < q; i += THREADS) s.column[i] = all.b[s.order[i]];
  ALL_TOGETHER();
  for (int e = 0; e < k; e++) {
    const double pivot = s.A[e * ld + e], rest = s.column[e], over = 1.0 / pivot;
    if (!(pivot > 0.0)) {
      ALL_TOGETHER();
      return false;
    }
    for (int i = e + 1 + warp; i < q; i += warps) {
      const double *row = s.A + e * ld;
      for (int j = e + 1 + lane; j < q; j += LANES) s.A[i * ld + j] -= row[i] * row[j] * over;
      if (lane == 0) s.column[i] -= row[i] * rest * over;
    }
    if (THREAD == 0) *s.c -= 0.5 * rest * rest * over;
    ALL_TOGETHER();
  }
  for (int i = THREAD; i < *s.free; i += THREADS) {
    const int j = s.order[k + i];
    s.b[i] = s.column[k + i];
    s.d[i] = fmax(node.d[j], 0.0), s.D[i] = node.D[j], s.S[i] = node.S[j];
    s.lo[i] = node.lo[j], s.hi[i] = node.hi[j], s.val[i] = 0.0;
    s.w[i] = fmin(fmax(node.w[j], fmin(s.lo[i], 0.0)), fmax(s.hi[i], 0.0));
  }
  ALL_TOGETHER();
  p = {*s.free, ld, s.A + (size_t)k * ld + k, *s.c, s.b, s.d, s.D, s.lo, s.hi, s.shape, n};
  for (int tries = 0; !is_definite(p, nullptr, all.shift, s.P, s.column); tries++) {  // only by rounding
    if (tries == 200) return false;
    for (int i = THREAD; i < p.m; i += THREADS) s.D[i] *= 0.99;
    ALL_TOGETHER();
  }
  keep_shapes(p);
  return true;
}

// What children inherit.
DEVICE void store(const Block &s, const Kept &node, const Relaxed &p) {
  for (int i = THREAD; i < p.m; i += THREADS) {
    const int j = s.order[*s.chosen + i];
    node.D[j] = s.D[i], node.S[j] = s.S[i], node.w[j] = s.w[i], node.lo[j] = s.lo[i], node.hi[j] = s.hi[i];
  }
  ALL_TOGETHER();
}

// The next place in a list that teams and blocks take turns at.
DEVICE int taken(int *next) {
#ifdef DSPROG_HOST
  return (*next)++;
#else
  return atomicAdd(next, 1);
#endif
}

DEVICE int next_turn(int *next, int lane) { return (int)of_lane(lane == 0 ? taken(next) : 0, 0); }

DEVICE int next_node(int *next, int *turn) {
  if (THREAD == 0) *turn = taken(next);
  ALL_TOGETHER();
  const int node = *turn;
  ALL_TOGETHER();
  return node;
}

DEVICE double room_of(const Search &all, const Relaxed &p, double lower) {
  return fmax(fmin(all.cutoff, p.c) - lower, 0.0);
}

// The first team descends; the others wait.
DEVICE void solve(const Search &all, const Relaxed &p, Block &s, double known, double *history) {
  if (THREAD < LANES) {
    double w[PER_LANE], Gw[PER_LANE];
    for (int i = THREAD; i < p.m; i += LANES) s.w[i] = fmin(fmax(s.w[i], fmin(s.lo[i], 0.0)), fmax(s.hi[i], 0.0));
    TOGETHER();
    begin(p, s.w, w, Gw, THREAD);
    const double room = room_of(all, p, known);
    const double accuracy = room < INFINITE ? 0.005 * room : 1e-6 * fabs(p.c);
    const Task task = {-1, -1, 0.0, 0.0, nullptr};
    descend(p, task, {all.cutoff, accuracy, SWEEPS}, w, Gw, history, all.n, THREAD);
    double excess;
    const double lower = bound(p, task, w, Gw, &excess, THREAD, s.val);
    UNROLL for (int i = 0; i < PER_LANE; i++)
      if (THREAD + LANES * i < p.m) s.w[THREAD + LANES * i] = w[i];
    if (THREAD == 0) *s.lower = lower;
  }
  ALL_TOGETHER();
}

// A better diagonal: a part of the way to the goal, the first of 1, 1/2, ... that lifts LB, each tried by a team.
DEVICE bool raise_diagonal(const Search &all, const Relaxed &p, Block &s, double *history) {
  if (THREAD == 0) {
    bool any = false;
    for (int i = 0; i < p.m; i++) any = any || s.S[i] != 0.0;
    *s.flag = any;
  }
  ALL_TOGETHER();
  const double memory = *s.flag ? 0.4 : 0.0, before = *s.lower, mu = 0.4 * room_of(all, p, before) / p.m;
  for (int i = THREAD; i < p.m; i += THREADS) {
    const double w = s.w[i], least = w > 0 ? fmax(s.lo[i], 0.0) : fmax(-s.hi[i], 0.0), most = w > 0 ? s.hi[i] : -s.lo[i];
    const double size = fabs(w), gradient = size * fmax(knee(s.d[i], s.D[i], least, most) - size, 0.0);
    s.S[i] = memory * s.S[i] + (1.0 - memory) * gradient;
  }
  ALL_TOGETHER();
  if (!raised(p, all, s.S, mu, s.goal, s.P, s.column)) return false;
  const int team = THREAD / LANES, lane = THREAD % LANES, teams = (THREADS + LANES - 1) / LANES;
  const double room = room_of(all, p, before), accuracy = room < INFINITE ? 0.005 * room : 1e-6 * fabs(p.c);
  double *found = s.P;  // points and gains of the trials: 2 n numbers each
  for (int trial = team; trial < TRIALS; trial += teams) {
    double w[PER_LANE], Gw[PER_LANE];
    begin(p, s.w, w, Gw, lane);
    const Task task = {-1, -1, 0.0, ldexp(1.0, -trial), s.goal};
    double excess, *point = found + 2 * trial * all.n, *mine = history + (size_t)team * 2 * HISTORY * all.n;
    descend(p, task, {all.cutoff, accuracy, SWEEPS}, w, Gw, mine, all.n, lane);
    const double lower = bound(p, task, w, Gw, &excess, lane, point + all.n);
    UNROLL for (int i = 0; i < PER_LANE; i++)
      if (lane + LANES * i < p.m) point[lane + LANES * i] = w[i];
    if (lane == 0) s.ends[trial] = lower;
  }
  ALL_TOGETHER();
  int best = -1;
  for (int trial = TRIALS - 1; trial >= 0; trial--)
    if (s.ends[trial] > before) best = trial;
  if (best < 0) return false;
  for (int j = THREAD; j < p.m; j += THREADS) {
    s.D[j] += ldexp(1.0, -best) * (s.goal[j] - s.D[j]);
    s.w[j] = found[2 * best * all.n + j], s.val[j] = found[(2 * best + 1) * all.n + j];
  }
  if (THREAD == 0) *s.lower = s.ends[best];
  ALL_TOGETHER();
  keep_shapes(p);
  return true;
}

// Fix features by what the bound rises by with and without them; whether any was.
DEVICE bool fix(const Search &all, const Relaxed &p, Block &s, const Kept &node) {
  const double needed = all.cutoff - *s.lower;
  if (THREAD == 0) *s.flag = 0;
  ALL_TOGETHER();
  if (needed > 0.0)
    for (int i = THREAD; i < p.m; i += THREADS) {
      const int j = s.order[*s.chosen + i];
      if (-s.val[i] >= needed) node.U[j] = false, *s.flag = 1;
      if (s.val[i] >= needed) node.I[j] = true, *s.flag = 1;
    }
  ALL_TOGETHER();
  const bool any = *s.flag;
  ALL_TOGETHER();
  return any;
}

// Bound and fix until nothing moves (PerspectiveSearch._tighten); true if something below the cutoff may be left.
DEVICE bool tighten(const Search &all, const Kept &node, Block &s, int ld, Relaxed &p, int steps, bool built,
                    double *lower, double *history, bool *failed) {
  bool fixed = true;
  while (fixed) {
    if (!built && !build(all, node, s, ld, p)) {
      *failed = true;
      return true;
    }
    if (!built && THREAD == 0) *s.lower = p.m ? -INFINITE : p.c;
    built = false;
    ALL_TOGETHER();
    if (p.m == 0) break;
    solve(all, p, s, *lower, history);
    fixed = fix(all, p, s, node);
    while (!fixed && steps > 0 && *s.lower < all.cutoff) {
      steps--;
      raise_diagonal(all, p, s, history);
      fixed = fix(all, p, s, node);
    }
    store(s, node, p);
  }
  if (*s.lower > *lower) *lower = fmin(all.cutoff, *s.lower);  // what is not a number closes nothing
  return *lower < all.cutoff;
}

DEVICE double forced_bound(const Search &all, const Relaxed &p, const Block &s, int j, double eta, const Limits &limits,
                           double *history, int lane) {
  double w[PER_LANE], Gw[PER_LANE];
  begin(p, s.w, w, Gw, lane);
  return descend(p, {j, -1, eta, 0.0, nullptr}, limits, w, Gw, history, all.n, lane);
}

// Boxes (coefficient_boxes.py), each feature by the next team that is free. The others find a new box as soon as it is
// there: a bound is valid with old ends and new ones. Whether a feature was excluded.
DEVICE bool tighten_boxes(const Search &all, const Relaxed &p, Block &s, const Kept &node, double *history) {
  const int team = THREAD / LANES, lane = THREAD % LANES;
  const double lower = *s.lower, cutoff = all.cutoff, accuracy = 0.05 * room_of(all, p, lower);
  double *mine = history + (size_t)team * 2 * HISTORY * all.n;
  if (THREAD == 0) *s.flag = 0, *s.turn = 0;
  ALL_TOGETHER();
  for (int j = next_turn(s.turn, lane); j < p.m; j = next_turn(s.turn, lane)) {
    const double w = s.w[j], d = s.d[j], D = s.D[j], G = p.M[(size_t)j * p.ld + j];
    double lo = s.lo[j], hi = s.hi[j];
    const double most = lower + d + D * w * w - hull(w, d, D, lo, hi);
    double chosen = 0.3 * lower + 0.7 * most;  // what F(0) will be, more or less
    if (most >= cutoff) chosen = forced_bound(all, p, s, j, 0.0, {cutoff, accuracy, SWEEPS / 3}, mine, lane);
    for (int side = 0; side < 2; side++) {
      const double sign = side == 0 ? 1.0 : -1.0;
      if (chosen >= cutoff || sign * w < 0.0) continue;
      const double eta = sign * 0.65 * sqrt(2.0 * (cutoff - chosen) * G);
      const double end = forced_bound(all, p, s, j, eta, {INFINITE, accuracy, SWEEPS / 3}, mine, lane);
      if (sign > 0.0)
        hi = fmin(hi, (cutoff - end) / eta);
      else
        lo = fmax(lo, (cutoff - end) / eta);
    }
    const bool out = chosen >= cutoff || lo > hi;
    TOGETHER();
    if (lane == 0) {
      s.lo[j] = out ? 0.0 : lo, s.hi[j] = out ? 0.0 : hi;
      keep_shape(p, j);
      if (out) node.U[s.order[*s.chosen + j]] = false, *s.flag = 1;
    }
  }
  ALL_TOGETHER();
  const bool any = *s.flag;
  store(s, node, p);
  return any;
}

// The feature to branch on (probed_branching.py): its position, and bounds of both children.
DEVICE int branch(const Search &all, const Relaxed &p, Block &s, double *inside, double *outside, double *history) {
  if (THREAD == 0) {
    int found = 0;
    for (; found < CANDIDATES && found < p.m; found++) {
      int best = -1;
      for (int j = 0; j < p.m; j++) {
        bool taken = false;
        for (int q = 0; q < found; q++) taken = taken || s.picked[q] == j;
        if (!taken && s.w[j] != 0.0 && (best < 0 || fabs(s.w[j]) > fabs(s.w[best]))) best = j;
      }
      if (best < 0) break;
      s.picked[found] = best;
    }
    *s.flag = found;
  }
  ALL_TOGETHER();
  const int team = THREAD / LANES, lane = THREAD % LANES, teams = (THREADS + LANES - 1) / LANES, count = *s.flag;
  const double lower = *s.lower, room = room_of(all, p, lower);
  const Limits limits = {all.cutoff, 0.01 * room, PROBE_SWEEPS};
  double *mine = history + (size_t)team * 2 * HISTORY * all.n;
  for (int task = team; task < 2 * count; task += teams) {
    double w[PER_LANE], Gw[PER_LANE];
    const int j = s.picked[task / 2];
    const bool out = task % 2;
    begin(p, s.w, w, Gw, lane);
    if (out) {
      const double size = s.w[j];
      UNROLL for (int i = 0; i < PER_LANE; i++) {
        const int k = lane + LANES * i;
        if (k < p.m) Gw[i] -= p.M[(size_t)j * p.ld + k] * size;
        if (k == j) w[i] = 0.0;
      }
    }
    const Task way = {out ? -1 : j, out ? j : -1, 0.0, 0.0, nullptr};
    const double end = descend(p, way, limits, w, Gw, mine, all.n, lane);
    if (lane == 0) s.ends[task] = end;
  }
  ALL_TOGETHER();
  int chosen = 0;
  double least = INFINITE;
  for (int q = 0; q < count; q++) {
    const double val = s.val[s.picked[q]];
    const double ends[] = {fmax(s.ends[2 * q], lower + fmax(-val, 0.0)), fmax(s.ends[2 * q + 1], lower + fmax(val, 0.0))};
    double trees = 0.0;
    for (double end : ends)
      trees += end >= all.cutoff ? 0.0 : exp2(-8.0 * fmax(end - lower, 0.0) / fmax(room, 1e-300));
    if (trees < least) least = trees, chosen = s.picked[q], *inside = ends[0], *outside = ends[1];
  }
  if (count == 0) {
    for (int j = 1; j < p.m; j++)
      if (s.val[j] > s.val[chosen]) chosen = j;
    *inside = lower + fmax(0.0, -s.val[chosen]), *outside = lower + fmax(0.0, s.val[chosen]);
  }
  ALL_TOGETHER();
  return s.order[*s.chosen + chosen];
}

// Bound the nodes ``rows`` in place, and say what to do with each: its status, the feature to branch on, and bounds of the
// children with and without it. c is the value of I as the minorant of the penalty has it.
KERNEL_OF(TEAMS * LANES) process(int teams, int count, int n, const double *G, const double *b, double c, double shift, double floor,
               double cutoff, const int *rows, bool *I, bool *U, double *d, double *D, double *S, double *w, double *lo,
               double *hi, double *lower, double *boxed, double *histories, int *status, int *feature, double *inside,
               double *outside, double *own, int *next) {
  const int ld = n | 1;
  const Search all = {n, G, b, c, shift, floor, cutoff};
  Block s = block_of(shared_memory, n, ld);
  double *history = histories + (size_t)blockIdx.x * ((THREADS + LANES - 1) / LANES) * 2 * HISTORY * n;
  for (int at = next_node(next, s.turn); at < count; at = next_node(next, s.turn)) {
    const size_t row = (size_t)rows[at], first = row * n;
    const Kept node = {I + first, U + first, d + first, D + first, S + first, w + first, lo + first, hi + first};
    const double room = fmax(cutoff - lower[row], 0.0);
    const bool boxes = cutoff < INFINITE && room <= 0.85 * boxed[row];
    double bound_of_node = lower[row], in = -INFINITE, out = -INFINITE;  // what is no number closes nothing
    bool failed = false, open;
    int j = -1;
    Relaxed p = {};
    open = tighten(all, node, s, ld, p, 1, false, &bound_of_node, history, &failed);
    if (open && !failed && p.m && boxes) {
      const bool excluded = tighten_boxes(all, p, s, node, history);
      open = tighten(all, node, s, ld, p, 1, !excluded, &bound_of_node, history, &failed);
    }
    if (open && !failed && p.m) j = branch(all, p, s, &in, &out, history);
    if (THREAD == 0) {
      lower[row] = bound_of_node;
      if (boxes) boxed[row] = room;
      status[at] = failed ? FAILED : !open ? CLOSED : p.m ? OPEN : COMPLETE;
      feature[at] = j, inside[at] = in, outside[at] = out, own[at] = failed ? -INFINITE : p.c;
    }
    ALL_TOGETHER();
  }
}
