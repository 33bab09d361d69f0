static inline double teml_fmin(double a, double b) { return (a < b || b != b) ? a : b; }
static inline double teml_fmax(double a, double b) { return (a > b || b != b) ? a : b; }
static inline float teml_fminf(float a, float b) { return (a < b || b != b) ? a : b; }
static inline float teml_fmaxf(float a, float b) { return (a > b || b != b) ? a : b; }
static inline int32_t teml_abs(int32_t a) { return a < 0 ? -a : a; }
static inline int64_t teml_abs64(int64_t a) { return a < 0 ? -a : a; }
// The quotient truncates, and wraps where there is no such number: processors stop at INT_MIN / -1.
static inline int32_t teml_div(int32_t a, int32_t b) { return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b; }
static inline int64_t teml_div64(int64_t a, int64_t b) { return b == -1 ? (int64_t)(UINT64_C(0) - (uint64_t)a) : a / b; }
