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

// The number of threads that share a parallel loop here.
#ifdef _OPENMP
#define TEML_SHARES() (omp_in_parallel() ? omp_get_num_threads() : omp_get_max_threads())
#else
#define TEML_SHARES() 1
#endif

// The first of `rows` rows that a share gets. Row k has the entries from begins[k] to before begins[k + 1],
// which increase. Shares have about equally many entries and rows.
#define TEML_FIRST_ROW(name, type) \
static inline int64_t name(const type *begins, int64_t rows, int64_t share, int64_t shares) \
{ \
    int64_t low = 0, high = rows > 0 ? rows : 0; \
    if (high > 0) { \
        const int64_t all = begins[rows] - begins[0] + rows; \
        const int64_t before = all / shares * share + all % shares * share / shares; \
        while (low < high) { \
            const int64_t middle = low + (high - low) / 2; \
            if (begins[middle] - begins[0] + middle < before) \
                low = middle + 1; \
            else \
                high = middle; \
        } \
    } \
    return low; \
}

TEML_FIRST_ROW(teml_first_row_i32, int32_t)

TEML_FIRST_ROW(teml_first_row_i64, int64_t)
