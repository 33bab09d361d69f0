/* Whether entries that index other tensors are as their facts say. */

/* Bounds are compared with the least and the greatest entry, since lanes hold more entries of their own
   type. Of entries that nothing can change, `known` has the least and the greatest one, and whether they
   increase (1) and are distinct (2). 0 if they are; 1 if one is outside of low..high, 2 if one is less than
   the one before it, 3 if two are equal, 4 without memory to find that out. */
#define TEML_ENTRIES(type) \
static int teml_entries_##type( \
    const type *x, int64_t count, int64_t low, int64_t high, int order, const int64_t *known) \
{ \
    if (count <= 0) \
        return 0; \
    if (known) \
        return known[0] < low || known[1] >= high ? 1 \
            : order == 1 && !(known[2] & 1)       ? 2 \
            : order == 2 && !(known[2] & 2)       ? 3 \
                                                  : 0; \
    type least = x[0], most = x[count - 1]; \
    int less = 0; \
    if (order == 1) { \
        _Pragma("omp simd reduction(|:less)") \
        for (int64_t k = 1; k < count; k++) \
            less |= x[k] < x[k - 1]; \
    } \
    if (order != 1 || less) { \
        _Pragma("omp simd reduction(min:least) reduction(max:most)") \
        for (int64_t k = 0; k < count; k++) { \
            least = x[k] < least ? x[k] : least; \
            most = x[k] > most ? x[k] : most; \
        } \
    } \
    if (least < low || most >= high) \
        return 1; \
    if (less) \
        return 2; \
    if (order == 2) { \
        unsigned char *seen = (unsigned char *)calloc((size_t)((high - low) / 8 + 1), 1); \
        int equal = 0; \
        if (!seen) \
            return 4; \
        for (int64_t k = 0; k < count; k++) { \
            const int64_t at = (int64_t)x[k] - low; \
            equal |= seen[at / 8] >> (at % 8) & 1; \
            seen[at / 8] |= (unsigned char)(1 << (at % 8)); \
        } \
        free(seen); \
        return equal ? 3 : 0; \
    } \
    return 0; \
}

/* Whether the entries of each row increase: none but the first one of a row is at most the one before it.
   Where rows begin increases. */
#define TEML_SORTED(type, of) \
static int teml_sorted_##type##_##of(const type *x, int64_t count, const of *begins, int64_t rows) \
{ \
    const int64_t first = rows > 0 && begins[0] > 0 ? begins[0] : 0; \
    const int64_t end = rows > 0 && begins[rows - 1] < count ? begins[rows - 1] : count; \
    int64_t all = 0, first_ones = 0; \
    if (rows < 1) \
        return 1; \
    _Pragma("omp simd reduction(+:all)") \
    for (int64_t k = first + 1; k < end; k++) \
        all += x[k] <= x[k - 1]; \
    for (int64_t r = 1; all && r < rows; r++) { \
        const int64_t k = begins[r]; \
        if (k > first && k < end && k != begins[r - 1]) \
            first_ones += x[k] <= x[k - 1]; \
    } \
    return all == first_ones; \
}
