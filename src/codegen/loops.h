#define TEML_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TEML_UNROLL(n) TEML_PRAGMA(unroll n)
#else
#define TEML_UNROLL(n) TEML_PRAGMA(GCC unroll n)
#endif
// In a loop that gcc 11 and 12 would vectorize wrongly: they leave loops with an asm statement alone.
#if defined(__GNUC__) && !defined(__clang__)
#define TEML_IN_ORDER() __asm__ volatile("")
#else
#define TEML_IN_ORDER() (void)0
#endif
