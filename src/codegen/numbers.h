static inline double teml_fmin(double a, double b) { return (a < b || b != b) ? a : b; }
static inline double teml_fmax(double a, double b) { return (a > b || b != b) ? a : b; }
static inline float teml_fminf(float a, float b) { return (a < b || b != b) ? a : b; }
static inline float teml_fmaxf(float a, float b) { return (a > b || b != b) ? a : b; }
static inline int32_t teml_abs(int32_t a) { return a < 0 ? -a : a; }
static inline int64_t teml_abs64(int64_t a) { return a < 0 ? -a : a; }
