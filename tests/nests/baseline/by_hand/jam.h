// Unroll and jam by 8, with the rest inside of the tile, as Pluto emits it. `S(a, b)` is the statement
// with a added to the first iterator and b to the second one; `LOOP` is the loop inside.

#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
// The end of tile t of n iterations. Sizes are numbers, so that tiles that all are whole have one.
#define END(n, t) ((n) % 32 == 0 ? 32 * (t) + 32 : min(n, 32 * (t) + 32))

// No iteration of the next loop waits for another one. Pluto emits these; gcc knows neither, and sees
// that variables of a file do not overlap.
#define VECTOR _Pragma("ivdep") _Pragma("vector always")

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

// Three loops; `S(a, b, c)`. `I3` has all copies of the first iterator, `IJ3` those of the first two.
#define I3(S, b, c) \
    S(0, b, c) S(1, b, c) S(2, b, c) S(3, b, c) S(4, b, c) S(5, b, c) S(6, b, c) S(7, b, c)
#define J3(S, c) \
    S(0, 0, c) S(0, 1, c) S(0, 2, c) S(0, 3, c) S(0, 4, c) S(0, 5, c) S(0, 6, c) S(0, 7, c)
#define IJ3(S, c) \
    I3(S, 0, c) I3(S, 1, c) I3(S, 2, c) I3(S, 3, c) I3(S, 4, c) I3(S, 5, c) I3(S, 6, c) I3(S, 7, c)
#define K3(S) S(0, 0, 0) S(0, 0, 1) S(0, 0, 2) S(0, 0, 3) S(0, 0, 4) S(0, 0, 5) S(0, 0, 6) S(0, 0, 7)
#define IK3(S) \
    I3(S, 0, 0) I3(S, 0, 1) I3(S, 0, 2) I3(S, 0, 3) I3(S, 0, 4) I3(S, 0, 5) I3(S, 0, 6) I3(S, 0, 7)
#define JK3(S) J3(S, 0) J3(S, 1) J3(S, 2) J3(S, 3) J3(S, 4) J3(S, 5) J3(S, 6) J3(S, 7)
#define IJK3(S) IJ3(S, 0) IJ3(S, 1) IJ3(S, 2) IJ3(S, 3) IJ3(S, 4) IJ3(S, 5) IJ3(S, 6) IJ3(S, 7)

#define JAM_LAST(k, k0, k1, LOOP, WHOLE, REST) \
    for (k = k0; k < (k1) - 7; k += 8) { \
        LOOP { WHOLE } \
    } \
    for (; k < (k1); k++) { \
        LOOP { REST } \
    }

#define JAM_THREE(i, i0, i1, j, j0, j1, k, k0, k1, LOOP, S) \
    for (i = i0; i < (i1) - 7; i += 8) { \
        for (j = j0; j < (j1) - 7; j += 8) { \
            JAM_LAST(k, k0, k1, LOOP, IJK3(S), IJ3(S, 0)) \
        } \
        for (; j < (j1); j++) { \
            JAM_LAST(k, k0, k1, LOOP, IK3(S), I3(S, 0, 0)) \
        } \
    } \
    for (; i < (i1); i++) { \
        for (j = j0; j < (j1) - 7; j += 8) { \
            JAM_LAST(k, k0, k1, LOOP, JK3(S), J3(S, 0)) \
        } \
        for (; j < (j1); j++) { \
            JAM_LAST(k, k0, k1, LOOP, K3(S), S(0, 0, 0)) \
        } \
    }
