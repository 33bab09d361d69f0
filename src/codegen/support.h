static inline int64_t teml_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t teml_max(int64_t a, int64_t b) { return a > b ? a : b; }
