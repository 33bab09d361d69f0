// The first n elements of a register, one by one: memory that is in no cache waits for masks.
#define TEML_PUT_LANES(name, type, vector) \
    static inline __attribute__((always_inline)) void name(type *to, int64_t n, vector value) \
    { \
        const int lanes = sizeof value / sizeof *to; \
        if (n >= lanes) \
            *(vector *)to = value; \
        else \
            for (int k = 0; k < lanes; k++) \
                if (k < n) to[k] = value[k]; \
    }

TEML_PUT_LANES(teml_f64_put, double, teml_f64xn)

TEML_PUT_LANES(teml_f32_put, float, teml_f32xn)

TEML_PUT_LANES(teml_i64_put, int64_t, teml_i64xn)

TEML_PUT_LANES(teml_i32_put, int32_t, teml_i32xn)

// The first n elements of a register: the others are zeros where they are read, and memory behind
// them is not touched.
#ifdef __cplusplus
extern "C++" {
struct teml_any {
    const void *at;
    template <class T> operator T *() const { return (T *)at; }
};
}
#define TEML_ANY(pointer) (teml_any{pointer})
#else
#define TEML_ANY(pointer) ((void *)(pointer))
#endif

// How many lanes of a vector are before the end of a loop.
#define TEML_LEFT(n) ((n) > 0 ? (n) : 0)

// The bits of the first n lanes.
#define TEML_MASK(lanes, n) ((n) < (lanes) ? (1u << (n)) - 1 : (1u << ((lanes) - 1)) * 2 - 1)

#if TEML_VECTOR == 64
static inline __attribute__((always_inline)) teml_f64xn teml_f64_part(const double *from, int64_t n)
{
    return __builtin_ia32_loadupd512_mask(TEML_ANY(from), (teml_f64xn){0}, TEML_MASK(8, n));
}
static inline __attribute__((always_inline)) void teml_f64_set(double *to, int64_t n, teml_f64xn value)
{
    __builtin_ia32_storeupd512_mask(TEML_ANY(to), value, TEML_MASK(8, n));
}
#elif TEML_VECTOR == 32
typedef long long teml_mask_f64 __attribute__((vector_size(32)));
#define TEML_MASK_F64(n) ((teml_mask_f64){0, 1, 2, 3} < (teml_mask_f64){0} + (long long)(n))
static inline __attribute__((always_inline)) teml_f64xn teml_f64_part(const double *from, int64_t n)
{
    return __builtin_ia32_maskloadpd256(TEML_ANY(from), TEML_MASK_F64(n));
}
static inline __attribute__((always_inline)) void teml_f64_set(double *to, int64_t n, teml_f64xn value)
{
    // A store with a mask takes some processors longer than several shorter ones.
    if (__builtin_constant_p(n))
        teml_f64_put(to, n, value);
    else
        __builtin_ia32_maskstorepd256(TEML_ANY(to), TEML_MASK_F64(n), value);
}
#else
static inline __attribute__((always_inline)) teml_f64xn teml_f64_part(const double *from, int64_t n)
{
    teml_f64xn value = {0};
    for (int k = 0; k < 2; k++)
        if (k < n) value[k] = from[k];
    return value;
}
#define teml_f64_set teml_f64_put
#endif

#if TEML_VECTOR == 64
static inline __attribute__((always_inline)) teml_f32xn teml_f32_part(const float *from, int64_t n)
{
    return __builtin_ia32_loadups512_mask(TEML_ANY(from), (teml_f32xn){0}, TEML_MASK(16, n));
}
static inline __attribute__((always_inline)) void teml_f32_set(float *to, int64_t n, teml_f32xn value)
{
    __builtin_ia32_storeups512_mask(TEML_ANY(to), value, TEML_MASK(16, n));
}
#elif TEML_VECTOR == 32
typedef int teml_mask_f32 __attribute__((vector_size(32)));
#define TEML_MASK_F32(n) ((teml_mask_f32){0, 1, 2, 3, 4, 5, 6, 7} < (teml_mask_f32){0} + (int)(n))
static inline __attribute__((always_inline)) teml_f32xn teml_f32_part(const float *from, int64_t n)
{
    return __builtin_ia32_maskloadps256(TEML_ANY(from), TEML_MASK_F32(n));
}
static inline __attribute__((always_inline)) void teml_f32_set(float *to, int64_t n, teml_f32xn value)
{
    // A store with a mask takes some processors longer than several shorter ones.
    if (__builtin_constant_p(n))
        teml_f32_put(to, n, value);
    else
        __builtin_ia32_maskstoreps256(TEML_ANY(to), TEML_MASK_F32(n), value);
}
#else
static inline __attribute__((always_inline)) teml_f32xn teml_f32_part(const float *from, int64_t n)
{
    teml_f32xn value = {0};
    for (int k = 0; k < 4; k++)
        if (k < n) value[k] = from[k];
    return value;
}
#define teml_f32_set teml_f32_put
#endif

// Integers are read and set by the instructions for numbers of their size.
#if TEML_VECTOR > 16
#define TEML_PART_AS(name, type, vector, part, as) \
    static inline __attribute__((always_inline)) vector name(const type *from, int64_t n) \
    { \
        return (vector)part((const as *)from, n); \
    }
#define TEML_SET_AS(name, type, vector, put, set, as, bits) \
    static inline __attribute__((always_inline)) void name(type *to, int64_t n, vector value) \
    { \
        if (TEML_VECTOR == 32 && __builtin_constant_p(n)) \
            put(to, n, value); \
        else \
            set((as *)to, n, (bits)value); \
    }
#else
#define TEML_PART_AS(name, type, vector, part, as) \
    static inline __attribute__((always_inline)) vector name(const type *from, int64_t n) \
    { \
        vector value = {0}; \
        for (int k = 0; k < (int)(sizeof value / sizeof *from); k++) \
            if (k < n) value[k] = from[k]; \
        return value; \
    }
#define TEML_SET_AS(name, type, vector, put, set, as, bits) \
    static inline __attribute__((always_inline)) void name(type *to, int64_t n, vector value) \
    { \
        put(to, n, value); \
    }
#endif

TEML_PART_AS(teml_i64_part, int64_t, teml_i64xn, teml_f64_part, double)

TEML_PART_AS(teml_i32_part, int32_t, teml_i32xn, teml_f32_part, float)

TEML_SET_AS(teml_i64_set, int64_t, teml_i64xn, teml_i64_put, teml_f64_set, double, teml_f64xn)

TEML_SET_AS(teml_i32_set, int32_t, teml_i32xn, teml_i32_put, teml_f32_set, float, teml_f32xn)

// An element and those after it that are among the next n; how they are set.
#define f64xn_part(x, n) teml_f64_part(&(x), n)

#define f32xn_part(x, n) teml_f32_part(&(x), n)

#define i64xn_part(x, n) teml_i64_part(&(x), n)

#define i32xn_part(x, n) teml_i32_part(&(x), n)

#define TEML_F64XN_SET(x, n, value) teml_f64_set(&(x), n, value)

#define TEML_F32XN_SET(x, n, value) teml_f32_set(&(x), n, value)

#define TEML_I64XN_SET(x, n, value) teml_i64_set(&(x), n, value)

#define TEML_I32XN_SET(x, n, value) teml_i32_set(&(x), n, value)

#define TEML_F64XN_PUT(x, n, value) teml_f64_put(&(x), n, value)

#define TEML_F32XN_PUT(x, n, value) teml_f32_put(&(x), n, value)

#define TEML_I64XN_PUT(x, n, value) teml_i64_put(&(x), n, value)

#define TEML_I32XN_PUT(x, n, value) teml_i32_put(&(x), n, value)
