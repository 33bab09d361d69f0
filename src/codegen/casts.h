// Vectors of smaller or larger elements, with as many lanes as a register has of f64 or f32 (or of
// integers of these sizes), or a fixed number.
typedef float teml_f32xf64n __attribute__((vector_size(TEML_VECTOR / 2), aligned(4), may_alias));

typedef int32_t teml_i32xf64n __attribute__((vector_size(TEML_VECTOR / 2), aligned(4), may_alias));

typedef double teml_f64xf32n __attribute__((vector_size(2 * TEML_VECTOR), aligned(8), may_alias));

typedef int64_t teml_i64xf32n __attribute__((vector_size(2 * TEML_VECTOR), aligned(8), may_alias));

typedef double teml_f64x16 __attribute__((vector_size(128), aligned(8), may_alias));

typedef int64_t teml_i64x16 __attribute__((vector_size(128), aligned(8), may_alias));

#define f32xf64n(x) (*(teml_f32xf64n *)&(x))

#define i32xf64n(x) (*(teml_i32xf64n *)&(x))

#define f64xf32n(x) (*(teml_f64xf32n *)&(x))

#define i64xf32n(x) (*(teml_i64xf32n *)&(x))

#define f64x16(x) (*(teml_f64x16 *)&(x))

#define i64x16(x) (*(teml_i64x16 *)&(x))

// The lanes of f32 as lanes of f64: gcc converts halves of a register, and joins them.
#if TEML_VECTOR == 64 && defined(__GNUC__) && !defined(__clang__)
#define teml_widened(x) \
    ((teml_f64xn)__builtin_ia32_cvtps2pd512_mask((teml_f32xf64n)(x), (teml_f64xn){0}, -1, 4))
#elif TEML_VECTOR == 32 && defined(__GNUC__) && !defined(__clang__)
#define teml_widened(x) ((teml_f64xn)__builtin_ia32_cvtps2pd256((teml_f32xf64n)(x)))
#else
#define teml_widened(x) __builtin_convertvector(x, teml_f64xn)
#endif

// The lanes of i32 as lanes of i64, in the same way.
#if TEML_VECTOR == 64 && defined(__GNUC__) && !defined(__clang__)
#define teml_iwidened(x) \
    ((teml_i64xn)__builtin_ia32_pmovsxdq512_mask((teml_i32xf64n)(x), (teml_longs){0}, -1))
#elif TEML_VECTOR == 32 && defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
#define teml_iwidened(x) ((teml_i64xn)__builtin_ia32_pmovsxdq256((teml_i32xf64n)(x)))
#else
#define teml_iwidened(x) __builtin_convertvector(x, teml_i64xn)
#endif

// The values of an index in lanes: `first` in the first one, and `by` more in each after it.
static const int64_t teml_lane[16] __attribute__((unused)) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#define teml_lanes(name, first, by) (*(const teml_##name *)teml_lane * (int64_t)(by) + (int64_t)(first))

// How much more than in the first lane, of at most 2^20 in each, and what that is compared with.
static const int32_t teml_lane32[16] __attribute__((unused)) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#define teml_steps(name, by) (*(const teml_##name *)teml_lane32 * (by))
static inline int32_t teml_near(int64_t x)
{
    return x < -(1 << 30) ? -(1 << 30) : x > 1 << 30 ? 1 << 30 : (int32_t)x;
}
