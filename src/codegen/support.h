// A variable of the type of its value.
#ifdef __cplusplus
#define TEML_AUTO auto
#else
#define TEML_AUTO __auto_type
#endif

static inline int teml_min(int a, int b) { return a < b ? a : b; }

static inline int teml_max(int a, int b) { return a > b ? a : b; }

static inline int64_t teml_min64(int64_t a, int64_t b) { return a < b ? a : b; }

static inline int64_t teml_max64(int64_t a, int64_t b) { return a > b ? a : b; }
