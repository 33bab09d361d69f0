// Functions of vectors. Those of the C library are glibc's on x86-64 (libmvec, which -lm links): they
// are off by less than 4 units in the last place. Elsewhere, and with -DTEML_MVEC=0, they are computed
// element by element.
#if !defined(TEML_MVEC)
#if defined(__x86_64__) && defined(__GLIBC__)
#define TEML_MVEC (100 * __GLIBC__ + __GLIBC_MINOR__)
#else
#define TEML_MVEC 0
#endif
#endif

// A function of n elements at x (and at y), which are replaced: by vectors first, one by one then.
#define TEML_FUNCTION(elem, type, name, vectors, one) \
    static inline __attribute__((always_inline)) void teml_##elem##_##name(type *x, const type *y, int n) \
    { \
        int k = 0; \
        (void)y; \
        vectors \
        for (; k < n; k++) \
            x[k] = one; \
    }

#define TEML_EACH(name, args) \
    TEML_FUNCTION(f64, double, name, , name args) TEML_FUNCTION(f32, float, name, , name##f args)

#define TEML_TAKES_v(vector) vector
#define TEML_TAKES_vv(vector) vector, vector
#define TEML_ARGS_v(vector) *(const vector *)(x + k)
#define TEML_ARGS_vv(vector) *(const vector *)(x + k), *(const vector *)(y + k)
#define TEML_DECLARE(vector, name, v) vector name(TEML_TAKES_##v(vector));
#define TEML_VECTORS(lanes, vector, name, v) \
    for (; k + lanes <= n; k += lanes) \
        *(vector *)(x + k) = name(TEML_ARGS_##v(vector));
#if TEML_VECTOR == 64
#define TEML_64(...) __VA_ARGS__
#else
#define TEML_64(...)
#endif
#if defined(__AVX2__)
#define TEML_32(...) __VA_ARGS__
#else
#define TEML_32(...)
#endif
#define TEML_LIBMVEC(name, v, args) \
    TEML_64(TEML_DECLARE(teml_f64x8, _ZGVeN8##v##_##name, v)) \
    TEML_32(TEML_DECLARE(teml_f64x4, _ZGVdN4##v##_##name, v)) \
    TEML_DECLARE(teml_f64x2, _ZGVbN2##v##_##name, v) \
    TEML_FUNCTION(f64, double, name, \
        TEML_64(TEML_VECTORS(8, teml_f64x8, _ZGVeN8##v##_##name, v)) \
        TEML_32(TEML_VECTORS(4, teml_f64x4, _ZGVdN4##v##_##name, v)) \
        TEML_VECTORS(2, teml_f64x2, _ZGVbN2##v##_##name, v), name args) \
    TEML_64(TEML_DECLARE(teml_f32x16, _ZGVeN16##v##_##name##f, v)) \
    TEML_32(TEML_DECLARE(teml_f32x8, _ZGVdN8##v##_##name##f, v)) \
    TEML_DECLARE(teml_f32x4, _ZGVbN4##v##_##name##f, v) \
    TEML_FUNCTION(f32, float, name, \
        TEML_64(TEML_VECTORS(16, teml_f32x16, _ZGVeN16##v##_##name##f, v)) \
        TEML_32(TEML_VECTORS(8, teml_f32x8, _ZGVdN8##v##_##name##f, v)) \
        TEML_VECTORS(4, teml_f32x4, _ZGVbN4##v##_##name##f, v), name##f args)

#define TEML_APPLY(name, a, b) \
    ({ \
        TEML_AUTO teml_x = (a); \
        TEML_AUTO teml_y = (b); \
        const int teml_n = sizeof teml_x / sizeof teml_x[0]; \
        if (sizeof teml_x[0] == sizeof(double)) \
            teml_f64_##name((double *)(void *)&teml_x, (const double *)(const void *)&teml_y, teml_n); \
        else \
            teml_f32_##name((float *)(void *)&teml_x, (const float *)(const void *)&teml_y, teml_n); \
        teml_x; \
    })

#if TEML_MVEC >= 222
TEML_LIBMVEC(exp, v, (x[k]))
#else
TEML_EACH(exp, (x[k]))
#endif
// The library takes a detour for lanes that underflow, such as masked scores: it gets 0 for them.
#define teml_vexp(a) \
    ({ \
        TEML_AUTO teml_e = (a); \
        const __typeof__(teml_e[0]) teml_least = sizeof teml_e[0] == sizeof(double) ? -746 : -104; \
        TEML_AUTO teml_kept = ~(teml_e < teml_least); \
        teml_e = (__typeof__(teml_e))(teml_kept & (__typeof__(teml_kept))teml_e); \
        teml_e = TEML_APPLY(exp, teml_e, 0); \
        (__typeof__(teml_e))(teml_kept & (__typeof__(teml_kept))teml_e); \
    })

#if TEML_MVEC >= 222
TEML_LIBMVEC(log, v, (x[k]))
#else
TEML_EACH(log, (x[k]))
#endif
#define teml_vlog(a) TEML_APPLY(log, a, 0)

#if TEML_MVEC >= 222
TEML_LIBMVEC(sin, v, (x[k]))
#else
TEML_EACH(sin, (x[k]))
#endif
#define teml_vsin(a) TEML_APPLY(sin, a, 0)

#if TEML_MVEC >= 222
TEML_LIBMVEC(cos, v, (x[k]))
#else
TEML_EACH(cos, (x[k]))
#endif
#define teml_vcos(a) TEML_APPLY(cos, a, 0)

#if TEML_MVEC >= 222
TEML_LIBMVEC(pow, vv, (x[k], y[k]))
#else
TEML_EACH(pow, (x[k], y[k]))
#endif
#define teml_vpow(a, b) TEML_APPLY(pow, a, b)

#if TEML_MVEC >= 235
TEML_LIBMVEC(tanh, v, (x[k]))
#else
TEML_EACH(tanh, (x[k]))
#endif
#define teml_vtanh(a) TEML_APPLY(tanh, a, 0)

#if TEML_MVEC >= 235
TEML_LIBMVEC(erf, v, (x[k]))
#else
TEML_EACH(erf, (x[k]))
#endif
#define teml_verf(a) TEML_APPLY(erf, a, 0)

TEML_EACH(floor, (x[k]))
#define teml_vfloor(a) TEML_APPLY(floor, a, 0)

TEML_EACH(ceil, (x[k]))
#define teml_vceil(a) TEML_APPLY(ceil, a, 0)

TEML_EACH(rint, (x[k]))
#define teml_vround(a) TEML_APPLY(rint, a, 0)

TEML_EACH(sqrt, (x[k]))
#define teml_vsqrt(a) TEML_APPLY(sqrt, a, 0)

TEML_EACH(fabs, (x[k]))
#define teml_vabs(a) TEML_APPLY(fabs, a, 0)

TEML_FUNCTION(f64, double, root, , sqrt(x[k] == -INFINITY ? INFINITY : x[k] + 0.0))
TEML_FUNCTION(f32, float, root, , sqrtf(x[k] == -INFINITY ? INFINITY : x[k] + 0.0f))
#define teml_vroot(a) TEML_APPLY(root, a, 0)

// All lanes of both values are computed, and some of them taken.
#define teml_vselect(condition, yes, no) \
    ({ \
        TEML_AUTO teml_m = (condition); \
        TEML_AUTO teml_t = (yes); \
        TEML_AUTO teml_f = (no); \
        (__typeof__(teml_t))((teml_m & (__typeof__(teml_m))teml_t) | (~teml_m & (__typeof__(teml_m))teml_f)); \
    })

#define TEML_BETTER(a, op, b) \
    ({ \
        TEML_AUTO teml_a = (a); \
        TEML_AUTO teml_b = (b); \
        teml_vselect((teml_a op teml_b) | (teml_b != teml_b), teml_a, teml_b); \
    })

#define teml_vmin(a, b) TEML_BETTER(a, <, b)

#define teml_vmax(a, b) TEML_BETTER(a, >, b)

// The lesser and the greater integers, and absolute values; that of the least one wraps. gcc would
// compare and select where one instruction does it.
#define TEML_CHOSEN(name, op, x, y) teml_vselect((x) op (y), x, y)
#define TEML_MAGNITUDE(x) (__typeof__(x))(((x) ^ ((x) < 0)) - ((x) < 0))
#if TEML_VECTOR == 64 && defined(__GNUC__) && !defined(__clang__)
#define TEML_OF_INTS(name, op, x, y) __builtin_ia32_p##name##sd512_mask(x, y, (teml_i32xn){0}, -1)
#define TEML_OF_LONGS(name, op, x, y) __builtin_ia32_p##name##sq512_mask(x, y, (teml_longs){0}, -1)
#define TEML_ABS_OF_INTS(x) __builtin_ia32_pabsd512_mask(x, (teml_i32xn){0}, -1)
#define TEML_ABS_OF_LONGS(x) __builtin_ia32_pabsq512_mask(x, (teml_longs){0}, -1)
#elif TEML_VECTOR == 32 && defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
#define TEML_OF_INTS(name, op, x, y) __builtin_ia32_p##name##sd256(x, y)
#define TEML_OF_LONGS TEML_CHOSEN
#define TEML_ABS_OF_INTS(x) __builtin_ia32_pabsd256(x)
#define TEML_ABS_OF_LONGS TEML_MAGNITUDE
#else
#define TEML_OF_INTS TEML_CHOSEN
#define TEML_OF_LONGS TEML_CHOSEN
#define TEML_ABS_OF_INTS TEML_MAGNITUDE
#define TEML_ABS_OF_LONGS TEML_MAGNITUDE
#endif
#define TEML_AS(type, x) (*(type *)(void *)&(x))
#define TEML_SET_TO(x, any, ints, longs) \
    if (sizeof x != TEML_VECTOR) \
        x = any; \
    else if (sizeof x[0] == sizeof(int32_t)) \
        TEML_AS(teml_i32xn, x) = (teml_i32xn)ints; \
    else \
        TEML_AS(teml_longs, x) = (teml_longs)longs
#define TEML_EXTREME(name, op, a, b) \
    ({ \
        TEML_AUTO teml_x = (a); \
        TEML_AUTO teml_y = (b); \
        TEML_SET_TO(teml_x, TEML_CHOSEN(name, op, teml_x, teml_y), \
            TEML_OF_INTS(name, op, TEML_AS(teml_i32xn, teml_x), TEML_AS(teml_i32xn, teml_y)), \
            TEML_OF_LONGS(name, op, TEML_AS(teml_longs, teml_x), TEML_AS(teml_longs, teml_y))); \
        teml_x; \
    })

#define teml_vimin(a, b) TEML_EXTREME(min, <, a, b)

#define teml_vimax(a, b) TEML_EXTREME(max, >, a, b)

#define teml_viabs(a) \
    ({ \
        TEML_AUTO teml_x = (a); \
        TEML_SET_TO(teml_x, TEML_MAGNITUDE(teml_x), TEML_ABS_OF_INTS(TEML_AS(teml_i32xn, teml_x)), \
            TEML_ABS_OF_LONGS(TEML_AS(teml_longs, teml_x))); \
        teml_x; \
    })
