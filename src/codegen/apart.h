// Lanes that are apart in memory: x is in the first lane, y in the second, and so on. Each is read or
// set by itself, and only the first n of a part.
#define TEML_APART(name, x, y) \
    ({ \
        teml_##name teml_g; \
        const __typeof__(x) *const teml_p = &(x); \
        const int64_t teml_by = &(y) - teml_p; \
        TEML_EACH_LANE(teml_g) teml_g[teml_k] = teml_p[teml_k * teml_by]; \
        teml_g; \
    })

#define TEML_APART_PART(name, x, y, n) \
    ({ \
        teml_##name teml_g = {0}; \
        const __typeof__(x) *const teml_p = &(x); \
        const int64_t teml_by = &(y) - teml_p; \
        TEML_EACH_LANE(teml_g) if (teml_k < (n)) teml_g[teml_k] = teml_p[teml_k * teml_by]; \
        teml_g; \
    })

// x for each lane teml_k.
#define TEML_GATHER(name, x) \
    ({ \
        teml_##name teml_g; \
        TEML_EACH_LANE(teml_g) teml_g[teml_k] = (x); \
        teml_g; \
    })

#define TEML_APART_SET(name, x, y, value) \
    do { \
        const teml_##name teml_s = (value); \
        __typeof__(x) *const teml_q = &(x); \
        const int64_t teml_by = &(y) - teml_q; \
        TEML_EACH_LANE(teml_s) teml_q[teml_k * teml_by] = teml_s[teml_k]; \
    } while (0)

#define TEML_APART_PART_SET(name, x, y, n, value) \
    do { \
        const teml_##name teml_s = (value); \
        __typeof__(x) *const teml_q = &(x); \
        const int64_t teml_by = &(y) - teml_q; \
        TEML_EACH_LANE(teml_s) if (teml_k < (n)) teml_q[teml_k * teml_by] = teml_s[teml_k]; \
    } while (0)

#define TEML_EACH_LANE(vector) \
    TEML_UNROLL(16) \
    for (int64_t teml_k = 0; teml_k < (int64_t)(sizeof(vector) / sizeof(vector)[0]); teml_k++)
