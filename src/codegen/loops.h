// How many copies compilers make of what a loop executes.
#define TEML_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TEML_UNROLL(n) TEML_PRAGMA(unroll n)
#else
#define TEML_UNROLL(n) TEML_PRAGMA(GCC unroll n)
#endif

// For functions with loops that walk through a tensor in both directions: gcc 12 mixes up addresses.
#if defined(__GNUC__) && !defined(__clang__)
#define TEML_NO_IVOPTS __attribute__((optimize("no-ivopts")))
#else
#define TEML_NO_IVOPTS
#endif

// In a loop that gcc 11 and 12 would vectorize wrongly: they leave loops with an asm statement alone,
// and do not group statements before one that may change memory with others after it.
#if defined(__GNUC__) && !defined(__clang__)
#define TEML_IN_ORDER() __asm__ volatile("" ::: "memory")
#else
#define TEML_IN_ORDER() (void)0
#endif
