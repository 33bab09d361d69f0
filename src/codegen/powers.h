// Powers with small exponents, of numbers and of vectors: products take less time than pow, and round
// less often than they multiply. TEML_LET names an operand, so that it is computed once.
#ifndef TEML_LET
#define TEML_LET(name, a, value) \
    ({ \
        TEML_AUTO name = (a); \
        value; \
    })
#endif

#define teml_pow2(a) TEML_LET(teml_b, a, teml_b * teml_b)

#define teml_pow3(a) TEML_LET(teml_c, a, teml_c * teml_c * teml_c)

#define teml_pow4(a) teml_pow2(teml_pow2(a))

#define teml_pow5(a) TEML_LET(teml_e, a, teml_pow4(teml_e) * teml_e)

#define teml_pow6(a) teml_pow2(teml_pow3(a))

#define teml_pow7(a) TEML_LET(teml_g, a, teml_pow6(teml_g) * teml_g)

#define teml_pow8(a) teml_pow2(teml_pow4(a))

// pow(x, 0.5): the square root but for -0 and minus infinity.
static inline double teml_root(double x) { return sqrt(x == -INFINITY ? INFINITY : x + 0.0); }

static inline float teml_rootf(float x) { return sqrtf(x == -INFINITY ? INFINITY : x + 0.0f); }
