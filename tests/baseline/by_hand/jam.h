// Unroll and jam by 8, with the rest inside of the tile, as Pluto emits it. `S(a, b)` is the statement
// with a added to the first iterator and b to the second one; `LOOP` is the loop inside.

#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))

#define FIRST(S, b) S(0, b) S(1, b) S(2, b) S(3, b) S(4, b) S(5, b) S(6, b) S(7, b)
#define SECOND(S) S(0, 0) S(0, 1) S(0, 2) S(0, 3) S(0, 4) S(0, 5) S(0, 6) S(0, 7)
#define BOTH(S) \
    FIRST(S, 0) FIRST(S, 1) FIRST(S, 2) FIRST(S, 3) FIRST(S, 4) FIRST(S, 5) FIRST(S, 6) FIRST(S, 7)

// Up to `end`, not including it.
#define JAM(i, begin, end, LOOP, S) \
    for (i = begin; i < (end) - 7; i += 8) { \
        LOOP { FIRST(S, 0) } \
    } \
    for (; i < (end); i++) { \
        LOOP { S(0, 0) } \
    }

#define JAM_BOTH(i, i0, i1, k, k0, k1, LOOP, S) \
    for (i = i0; i < (i1) - 7; i += 8) { \
        for (k = k0; k < (k1) - 7; k += 8) { \
            LOOP { BOTH(S) } \
        } \
        for (; k < (k1); k++) { \
            LOOP { FIRST(S, 0) } \
        } \
    } \
    for (; i < (i1); i++) { \
        for (k = k0; k < (k1) - 7; k += 8) { \
            LOOP { SECOND(S) } \
        } \
        for (; k < (k1); k++) { \
            LOOP { S(0, 0) } \
        } \
    }
