// Entropies of discrete data. Rows are words (rows, width) with one bit field for each column; the key of a row on a set
// of columns is its words under a mask. A block of threads works on one set at a time: rows of equal keys are found by a
// hash table of row numbers in shared memory, which compares whole keys, so that a collision cannot change a group.

#ifdef DSPROG_HOST
#define THREADS 1
#define THREAD 0
DEVICE int exchange_if(int *place, int expected, int value) {
  const int found = *place;
  if (found == expected) *place = value;
  return found;
}
DEVICE void add_to(int *place, int value) { *place += value; }
DEVICE double sum_of_block(double v, double *room) { (void)room; return v; }
#else
#define THREADS blockDim.x
#define THREAD threadIdx.x
DEVICE int exchange_if(int *place, int expected, int value) { return atomicCAS(place, expected, value); }
DEVICE void add_to(int *place, int value) { atomicAdd(place, value); }
DEVICE double sum_of_block(double v, double *room) {
  v = sum_of_lanes(v);
  __syncthreads();
  if (threadIdx.x % LANES == 0) room[threadIdx.x / LANES] = v;
  __syncthreads();
  double total = 0.0;
  for (int w = 0; w < blockDim.x / LANES; w++) total += room[w];
  return total;
}
#endif

struct Data {
  int rows, width, bits;  // 1 << bits hash slots
  const Word *words;  // (width, rows)
  const int *counts;
  const double *c_log_c;
};

// The sum of c log c over the groups of rows that agree under the mask.
DEVICE double grouped(const Data &data, const Word *mask, int *slots, int *sizes, double *room) {
  const int last = (1 << data.bits) - 1;
  for (int s = THREAD; s <= last; s += THREADS) {
    slots[s] = -1;
    sizes[s] = 0;
  }
  ALL_TOGETHER();
  for (int r = THREAD; r < data.rows; r += THREADS) {
    Word hash = 0, factor = 0x9E3779B97F4A7C15ull;
    for (int w = 0; w < data.width; w++) {
      hash += (data.words[(size_t)w * data.rows + r] & mask[w]) * factor;
      factor *= 0x9E3779B97F4A7C15ull;
    }
    int place = (int)(hash >> (64 - data.bits));
    while (true) {
      const int other = exchange_if(slots + place, -1, r);
      bool same = true;
      if (other >= 0)
        for (int w = 0; w < data.width; w++)
          same = same && ((data.words[(size_t)w * data.rows + other] ^ data.words[(size_t)w * data.rows + r]) & mask[w]) == 0;
      if (same) break;
      place = (place + 1) & last;
    }
    add_to(sizes + place, data.counts[r]);
  }
  ALL_TOGETHER();
  double total = 0.0;
  for (int s = THREAD; s <= last; s += THREADS)
    if (slots[s] >= 0) total += data.c_log_c[sizes[s]];
  total = sum_of_block(total, room);
  ALL_TOGETHER();
  return total;
}

// H = log N - sum of c log c / N for every set, one block a set.
KERNEL entropy_values(int teams, int n, int rows, int width, int bits, int total, const Word *words, const int *counts,
                      const double *c_log_c, const Word *fields, const Word *always, const bool *masks, double *out) {
  const int b = blockIdx.x;
  if (b >= teams) return;
  const Data data = {rows, width, bits, words, counts, c_log_c};
  double *room = (double *)shared_memory;
  Word *mask = (Word *)(room + 32);
  int *slots = (int *)(mask + width);
  for (int w = THREAD; w < width; w += THREADS) {
    Word fielded = always[w];
    for (int j = 0; j < n; j++)
      if (masks[(size_t)b * n + j]) fielded |= fields[(size_t)j * width + w];
    mask[w] = fielded;
  }
  ALL_TOGETHER();
  const double c = grouped(data, mask, slots, slots + (1 << bits), room);
  if (THREAD == 0) out[b] = (c_log_c[total] - c) / total;
}
