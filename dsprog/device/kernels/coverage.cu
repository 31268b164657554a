// Weight of the items that each element of an order is the first to cover. Covered items are bits in shared memory;
// a lane has every LANES-th word, and members is (n, words).
KERNEL coverage_chains(int teams, int n, int m, int words, const HalfWord *members, const double *weights,
                       const int *orders, const bool *start, double *out) {
  NODE
  HalfWord *covered = (HalfWord *)SHARED(words * sizeof(HalfWord));
  for (int w = lane; w < words; w += LANES) {
    HalfWord bits = 0;
    for (int j = 0; j < n; j++)
      if (start[(size_t)b * n + j]) bits |= members[(size_t)j * words + w];
    covered[w] = bits;
  }
  for (int p = 0; p < m; p++) {
    const int j = orders[(size_t)b * m + p];
    double total = 0.0;
    if (j >= 0)
      for (int w = lane; w < words; w += LANES) {
        HalfWord fresh = members[(size_t)j * words + w] & ~covered[w];
        covered[w] |= fresh;
        while (fresh) {
#ifdef DSPROG_HOST
          const int bit = __builtin_ctz(fresh);
#else
          const int bit = __ffs(fresh) - 1;
#endif
          total += weights[w * 32 + bit];
          fresh &= fresh - 1;
        }
      }
    total = sum_of_lanes(total);
    if (lane == 0) out[(size_t)b * m + p] = total;
  }
}
