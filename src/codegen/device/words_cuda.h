#define TEML_BARRIER_OF_WARPS() __syncwarp()
#define TEML_PASS(type, to, from, lane, lanes) (to = __shfl_sync(0xffffffffu, from, lane, lanes))
