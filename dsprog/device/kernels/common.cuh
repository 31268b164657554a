// What all kernels have in common. A team of LANES lanes, one warp, works on node b; lane is this thread's place in it.
//
// With DSPROG_HOST the same source is compiled for the host, with teams of one lane that run one after the other: this
// is how the kernels are tested where there is no card.

#ifdef DSPROG_HOST
#include <cmath>
#include <cstddef>
#include <cstdint>
using namespace std;
typedef uint64_t Word;
typedef uint32_t HalfWord;
#define INFINITE HUGE_VAL
#define LANES 1
#define DEVICE static inline
#define KERNEL extern "C" void
#define KERNEL_OF(threads) KERNEL
#define TOGETHER()
#define ALL_TOGETHER()
struct Place { int x; };
static Place blockIdx, threadIdx;
static int teams_in_block = 1;
static char *shared_memory;
DEVICE double sum_of_lanes(double v) { return v; }
DEVICE double least_of_lanes(double v) { return v; }
DEVICE bool any_of_lanes(bool v) { return v; }
DEVICE double most_of_lanes(double v) { return v; }
DEVICE double of_lane(double v, int) { return v; }
DEVICE unsigned lanes_where(bool v) { return v; }
DEVICE int first_lane(unsigned) { return 0; }
#define THREAD 0
#define THREADS 1
DEVICE int append(bool wanted, int j, int *list, int count) { if (wanted) list[count] = j; return count + wanted; }
#else
typedef unsigned long long Word;
typedef unsigned int HalfWord;
#define INFINITE __longlong_as_double(0x7ff0000000000000ll)
#define LANES 32
#define DEVICE __device__ __forceinline__
#define KERNEL extern "C" __global__ void
#define KERNEL_OF(threads) extern "C" __global__ void __launch_bounds__(threads)
#define TOGETHER() __syncwarp()
#define ALL_TOGETHER() __syncthreads()
#define teams_in_block (blockDim.x / LANES)
extern __shared__ double shared_doubles[];
#define shared_memory ((char *)shared_doubles)
DEVICE double sum_of_lanes(double v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
DEVICE double least_of_lanes(double v) {
  for (int o = 16; o; o >>= 1) v = fmin(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
DEVICE bool any_of_lanes(bool v) { return __any_sync(0xffffffffu, v); }
DEVICE double most_of_lanes(double v) {
  for (int o = 16; o; o >>= 1) v = fmax(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
DEVICE double of_lane(double v, int other) { return __shfl_sync(0xffffffffu, v, other); }
DEVICE unsigned lanes_where(bool v) { return __ballot_sync(0xffffffffu, v); }
DEVICE int first_lane(unsigned there) { return __ffs(there) - 1; }
#define THREAD ((int)threadIdx.x)
#define THREADS ((int)blockDim.x)
// Every lane gives one element; those that are wanted are appended to the list, in order. All lanes must call it.
DEVICE int append(bool wanted, int j, int *list, int count) {
  unsigned there = __ballot_sync(0xffffffffu, wanted);
  if (wanted) list[count + __popc(there & ((1u << (threadIdx.x % LANES)) - 1u))] = j;
  return count + __popc(there);
}
#endif

// Loops over what a lane has are unrolled as a whole where that is little, so that it stays in registers.
#if defined(DSPROG_HOST) || !defined(PER_LANE)
#define UNROLL
#elif PER_LANE > 16
#define UNROLL _Pragma("unroll 4")
#else
#define UNROLL _Pragma("unroll")
#endif

// The node of this team and the place of this lane; teams beyond the last node have nothing to do.
#define NODE                                                      \
  const int lane = threadIdx.x % LANES;                           \
  const int b = blockIdx.x * teams_in_block + threadIdx.x / LANES; \
  if (b >= teams) return;                                         \
  (void)lane;

// This team's part of shared memory, of so many bytes, rounded up such that every team may begin with doubles.
#define SHARED(bytes) (shared_memory + (threadIdx.x / LANES) * (((size_t)(bytes) + 7) / 8 * 8))
