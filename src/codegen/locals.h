// A local tensor, whose elements are unset.
#define TEML_LOCAL(type, name, extents) \
    type name extents __attribute__((aligned(64))); \
    TEML_UNSET(type, name, sizeof(type extents))

// One that begins with zeros: lanes behind its rows are computed with, and nothing else sets them.
#ifdef __cplusplus
#define TEML_ZERO {}
#else
#define TEML_ZERO {0}
#endif
#define TEML_LOCAL_ZERO(type, name, extents) \
    type name extents __attribute__((aligned(64))) = TEML_ZERO

// One for each thread, which is too large for the stack; it begins with zeros.
#define TEML_SPACE_ZERO(type, name, extents) \
    static __thread type teml_##name##_space extents __attribute__((aligned(64))); \
    __typeof__(&teml_##name##_space[0]) TEML_RESTRICT const name = teml_##name##_space

// One for each thread, whose elements are unset.
#define TEML_SPACE(type, name, extents) \
    TEML_SPACE_ZERO(type, name, extents); \
    TEML_UNSET(type, name, sizeof(type extents))

// With -DTEML_POISON, unset elements are signaling NaNs (1) or subnormal numbers (2), so that tests see
// who computes with them.
#if defined(TEML_POISON) && TEML_POISON == 1
#define TEML_POISON_double __builtin_nans("")
#define TEML_POISON_float __builtin_nansf("")
#define TEML_POISON_int32_t INT32_MIN
#define TEML_POISON_int64_t INT64_MIN
#elif defined(TEML_POISON)
#define TEML_POISON_double 1e-310
#define TEML_POISON_float 1e-40f
#define TEML_POISON_int32_t 1
#define TEML_POISON_int64_t 1
#endif
#if defined(TEML_POISON)
#define TEML_UNSET(type, name, bytes) \
    for (unsigned long teml_k = 0; teml_k < (bytes) / sizeof(type); teml_k++) \
        ((volatile type *)name)[teml_k] = TEML_POISON_##type
#else
#define TEML_UNSET(type, name, bytes) (void)0
#endif
