/* Whether entries that index other tensors are as their facts say. */

/* Bounds are compared with the least and the greatest entry, since lanes hold more entries of their own
   type. 0 if they are; 1 if one is outside of low..high, 2 if one is less than the one before it, 3 if two
   are equal, 4 without memory to find that out. */
#define TEML_ENTRIES(type) \
static int teml_entries_##type(const type *x, int64_t count, int64_t low, int64_t high, int order) \
{ \
    type least = count > 0 ? x[0] : 0, most = least; \
    int less = 0; \
    if (count <= 0) \
        return 0; \
    _Pragma("omp simd reduction(min:least) reduction(max:most)") \
    for (int64_t k = 0; k < count; k++) { \
        least = x[k] < least ? x[k] : least; \
        most = x[k] > most ? x[k] : most; \
    } \
    if (least < low || most >= high) \
        return 1; \
    if (order == 1) { \
        _Pragma("omp simd reduction(|:less)") \
        for (int64_t k = 1; k < count; k++) \
            less |= x[k] < x[k - 1]; \
    } \
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
