#define TEML_FENCE(order) __builtin_amdgcn_fence(order, "wavefront")
#define TEML_BARRIER_OF_WARPS() (TEML_FENCE(__ATOMIC_RELEASE), __builtin_amdgcn_wave_barrier(), TEML_FENCE(__ATOMIC_ACQUIRE))
#define TEML_PASS(type, to, from, lane, lanes) (to = __shfl(from, lane, lanes))
