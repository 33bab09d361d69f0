typedef int int32_t;
typedef unsigned uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_C(x) x##ll
#define UINT64_C(x) x##ull
#define INT64_MIN (-INT64_C(9223372036854775807) - 1)
#define INT64_MAX INT64_C(9223372036854775807)
#define INFINITY __int_as_float(0x7f800000)
#define TEML_RESTRICT __restrict__
#define inline inline __device__
#define TEML_LET(name, a, value) ([&] { auto name = (a); return value; }())
#define TEML_GLOBAL
#define TEML_SHARED __shared__ __align__(16)
typedef int2 int32_t2;
typedef int4 int32_t4;
typedef longlong2 int64_t2;
#define TEML_REGISTERS __align__(16)
#define TEML_MOVE(type, n, to, from) (*(type##n *)(to) = *(const type##n *)(from))
#define TEML_KERNEL(x, y, z) extern "C" __global__ __launch_bounds__(x * y * z)
#define TEML_BARRIER() __syncthreads()
#define TEML_AXIS_0(of) of.x
#define TEML_AXIS_1(of) of.y
#define TEML_AXIS_2(of) of.z
#define TEML_THREAD(d) TEML_AXIS_##d(threadIdx)
#define TEML_BLOCK(d) TEML_AXIS_##d(blockIdx)
#define TEML_PASSED(type, threads)
