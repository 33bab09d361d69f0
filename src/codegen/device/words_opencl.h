#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef int int32_t;
typedef unsigned uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define INT64_C(x) x##L
#define UINT64_C(x) x##UL
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define expf exp
#define logf log
#define sinf sin
#define cosf cos
#define tanhf tanh
#define erff erf
#define sqrtf sqrt
#define fabsf fabs
#define powf pow
#define floorf floor
#define ceilf ceil
#define rintf rint
#define TEML_RESTRICT restrict
#define TEML_GLOBAL __global
#define TEML_SHARED __local __attribute__((aligned(16)))
#define TEML_REGISTERS
#define TEML_MOVE(type, n, to, from) vstore##n(vload##n(0, from), 0, to)
#define TEML_KERNEL(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z)))
#define TEML_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define TEML_THREAD(d) get_local_id(d)
#define TEML_BLOCK(d) get_group_id(d)
#define TEML_BARRIER_OF_WARPS() TEML_BARRIER()
#define TEML_AT (get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)))
#define TEML_PASSED(type, threads) __local type teml_passed_##type[threads]
#define TEML_PASS(type, to, from, lane, lanes) { teml_passed_##type[TEML_AT] = from; TEML_BARRIER(); to = teml_passed_##type[TEML_AT / lanes * lanes + (lane) % lanes]; TEML_BARRIER(); }
