#if defined(__AVX512F__)
#define TEML_VECTOR 64
#elif defined(__AVX__)
#define TEML_VECTOR 32
#else
#define TEML_VECTOR 16
#endif

// As many neighbors as a register holds, or a fixed number of them.
typedef double teml_f64xn __attribute__((vector_size(TEML_VECTOR), aligned(8), may_alias));
typedef double teml_f64x2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef double teml_f64x4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef double teml_f64x8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef float teml_f32xn __attribute__((vector_size(TEML_VECTOR), aligned(4), may_alias));
typedef float teml_f32x2 __attribute__((vector_size(8), aligned(4), may_alias));
typedef float teml_f32x4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float teml_f32x8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float teml_f32x16 __attribute__((vector_size(64), aligned(4), may_alias));
enum { TEML_F64XN = TEML_VECTOR / 8, TEML_F32XN = TEML_VECTOR / 4 };

// The vector of an element and its neighbors.
#define f64xn(x) (*(teml_f64xn *)&(x))
#define f64x2(x) (*(teml_f64x2 *)&(x))
#define f64x4(x) (*(teml_f64x4 *)&(x))
#define f64x8(x) (*(teml_f64x8 *)&(x))
#define f32xn(x) (*(teml_f32xn *)&(x))
#define f32x2(x) (*(teml_f32x2 *)&(x))
#define f32x4(x) (*(teml_f32x4 *)&(x))
#define f32x8(x) (*(teml_f32x8 *)&(x))
#define f32x16(x) (*(teml_f32x16 *)&(x))

#define TEML_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TEML_UNROLL(n) TEML_PRAGMA(unroll n)
#else
#define TEML_UNROLL(n) TEML_PRAGMA(GCC unroll n)
#endif
