#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct teml_variant {
    const char *name;
    void (*prepare)(void); // restores what the kernel writes
    void (*run)(void);
};

// Tensors start in different places of their pages: lines that agree there compete for the same
// places of a cache, and loads wait for stores that do. With -DTEML_OFFSET=N they start N bytes behind
// where malloc has them.
static inline void *teml_allocate(size_t elements, size_t size, size_t start)
{
#ifdef TEML_OFFSET
    size_t bytes = TEML_OFFSET + elements * size;
    char *memory = malloc(bytes);
    start = TEML_OFFSET;
#else
    size_t page = 4096, bytes = (start + elements * size + page - 1) / page * page;
    char *memory = aligned_alloc(page, bytes);
#endif
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(2);
    }
    memset(memory, 0, bytes);
    return memory + start;
}

static inline void teml_read(const char *file, void *memory, size_t elements, size_t size)
{
    FILE *in = fopen(file, "rb");
    if (in == NULL || fread(memory, size, elements, in) != elements) {
        fprintf(stderr, "cannot read %zu elements from %s\n", elements, file);
        exit(2);
    }
    fclose(in);
}

// Output number x of the generator SplitMix64 that starts with the seed.
static inline uint64_t teml_random(uint64_t seed, uint64_t x)
{
    uint64_t z = seed + (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// With poisoned local tensors, whoever computes with what nothing set gets an exception. Threads have
// exceptions of their own: one thread shows all.
#if defined(TEML_POISON) && TEML_POISON == 1
#include <fenv.h>
#define TEML_CHECK(variant) \
    if (fetestexcept(FE_INVALID)) { \
        printf("%s computes with elements that nothing set\n", variant); \
        exit(1); \
    }
#else
#define TEML_CHECK(variant)
#endif

static inline double teml_now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Compares n elements; the error is relative to the largest expected one. Returns 1 if wrong.
#define TEML_COMPARE(TYPE)                                                                      \
    static inline int teml_compare_##TYPE(const char *variant, const char *tensor,              \
                                          const TYPE *expected, const TYPE *actual, int64_t n,  \
                                          double tolerance)                                     \
    {                                                                                           \
        double scale = 0, worst = 0;                                                            \
        int64_t first = -1;                                                                     \
        for (int64_t x = 0; x < n; x++) {                                                       \
            double e = (double)expected[x], size = e < 0 ? -e : e;                              \
            if (size > scale) scale = size;                                                     \
        }                                                                                       \
        for (int64_t x = 0; x < n; x++) {                                                       \
            double e = (double)expected[x], a = (double)actual[x];                              \
            int same = e == a || (e != e && a != a);                                            \
            double d = e > a ? e - a : a - e;                                                   \
            if (same) continue;                                                                 \
            if (!(d <= tolerance * scale) && first < 0) first = x;                              \
            if (!(d <= worst)) worst = d;                                                       \
        }                                                                                       \
        if (first < 0) return 0;                                                                \
        printf("%s computes a wrong %s: element %lld is %.17g, expected %.17g\n", variant,      \
               tensor, (long long)first, (double)actual[first], (double)expected[first]);       \
        return 1;                                                                               \
    }
TEML_COMPARE(double)
TEML_COMPARE(float)
TEML_COMPARE(int32_t)
TEML_COMPARE(int64_t)

static inline int teml_less(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Below this many seconds it matters what the variant before left in the caches.
#define TEML_LONG 0.05

// Times all variants in turn, each after a call that does not count, and prints a table.
static inline void teml_time(const struct teml_variant *variants, int count, int runs)
{
    double *times = calloc((size_t)count * ((size_t)runs + 1), sizeof(double));
    if (times == NULL) exit(2);
    for (int r = 0; r <= runs; r++) {
        for (int v = 0; v < count; v++) {
            double *own = times + v * (runs + 1);
            variants[v].prepare();
            if (r > 0 && own[0] < TEML_LONG) {
                variants[v].run();
                variants[v].prepare();
            }
            double start = teml_now();
            variants[v].run();
            own[r] = teml_now() - start;
        }
    }
    printf("%-20s %14s %14s %10s\n", "variant", "min (s)", "median (s)", "speed-up");
    double base = 0;
    for (int v = 0; v < count; v++) {
        double *own = times + v * (runs + 1) + 1;
        qsort(own, (size_t)runs, sizeof(double), teml_less);
        double median = (own[(runs - 1) / 2] + own[runs / 2]) / 2;
        if (v == 0) base = median;
        printf("%-20s %14.9f %14.9f %9.2fx\n", variants[v].name, own[0], median, base / median);
    }
    free(times);
}
