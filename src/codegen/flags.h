// Optimizations of -ffast-math, which -Ofast includes, change results. -DTEML_FAST_MATH allows them.
#if !defined(TEML_FAST_MATH) && (defined(__FAST_MATH__) || __FINITE_MATH_ONLY__ + 0 || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__))
#error "results would differ: compile without -ffast-math and -Ofast, or with -DTEML_FAST_MATH"
#endif
