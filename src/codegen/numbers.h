static inline double teml_fmin(double a, double b) { return (a < b || b != b) ? a : b; }

static inline double teml_fmax(double a, double b) { return (a > b || b != b) ? a : b; }

static inline float teml_fminf(float a, float b) { return (a < b || b != b) ? a : b; }

static inline float teml_fmaxf(float a, float b) { return (a > b || b != b) ? a : b; }

static inline int32_t teml_abs(int32_t a) { return a < 0 ? -a : a; }

static inline int64_t teml_abs64(int64_t a) { return a < 0 ? -a : a; }

// The quotient truncates, and wraps where there is no such number: processors stop at INT_MIN / -1.
static inline int32_t teml_div(int32_t a, int32_t b) { return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b; }

static inline int64_t teml_div64(int64_t a, int64_t b) { return b == -1 ? (int64_t)(UINT64_C(0) - (uint64_t)a) : a / b; }

// Euclid's remainder: from 0 to before |b|. Processors stop at INT_MIN % -1.
static inline int32_t teml_mod(int32_t a, int32_t b) { int32_t r = b == -1 ? 0 : a % b; return r < 0 ? (b < 0 ? r - b : r + b) : r; }

static inline int64_t teml_mod64(int64_t a, int64_t b) { int64_t r = b == -1 ? 0 : a % b; return r < 0 ? (b < 0 ? r - b : r + b) : r; }

// Towards 0; the least or the greatest integer beyond them, and 0 for a NaN.
static inline int32_t teml_to_i32(double a) { return a != a ? 0 : a <= -2147483648.0 ? INT32_MIN : a >= 2147483647.0 ? INT32_MAX : (int32_t)a; }

static inline int64_t teml_to_i64(double a) { return a != a ? 0 : a <= -9223372036854775808.0 ? INT64_MIN : a >= 9223372036854775808.0 ? INT64_MAX : (int64_t)a; }

// Rounded: gcc 12 makes two of them a vector, and takes that for the number itself where it is widened
// again. It leaves what an asm statement may change alone.
static inline float teml_to_f32(double a)
{
    float rounded = (float)a;
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
    __asm__("" : "+m"(rounded));
#endif
    return rounded;
}
