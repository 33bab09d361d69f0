// helm, from Pluto's transformations, which part among the tiles; initializations apart:
//   t1 += A' u   (0, e/32, i/32, n/32, 0, m/32, 0, l/32, e, i, m, l, n)
//   t2 += A' t1  (0, e/32, i/32, n/32, 0, m/32, 1, j/32, e, i, m, j, n)
//   t += A' t2   (0, e/32, i/32, n/32, 1, j/32, k/32, e, i, n, j, k)
//   r = t / D    (1, e/32, i/32, j/32, k/32, e, i, j, k)
//   v1 += A r    (2, e/32, i/32, n/32, 0, m/32, 0, l/32, e, i, m, l, n)
//   v2 += A v1   (2, e/32, i/32, n/32, 0, m/32, 1, j/32, e, i, m, j, n)
//   v += A v2    (2, e/32, i/32, n/32, 1, j/32, k/32, e, i, j, k, n)
#ifndef E
#define E 39
#define N 5
#endif
#include "jam.h"
#include <string.h>

typedef double cube[N][N][N];

#define BLOCK(x, t, end) for (x = 32 * t; x < END(end, t); x++)
#define TILES (N + 31) / 32

static void zero(cube *restrict X)
{
    int t1, e, i, j, k;
#pragma omp parallel for private(e, i, j, k)
    for (t1 = 0; t1 < (E + 31) / 32; t1++)
        BLOCK(e, t1, E)
            for (i = 0; i < N; i++)
                for (j = 0; j < N; j++)
                    for (k = 0; k < N; k++)
                        X[e][i][j][k] = 0;
}

static _Alignas(64) cube t1_[E], t2_[E], t[E], r[E], v1[E], v2[E], v[E], u[E], D[E];
static _Alignas(64) double A[N][N];

static void by_hand(void)
{
    int t1, t2, t3, t4, t5, e, i, j, k, l, m, n;
    zero(t1_);
    zero(t2_);
    zero(t);
    zero(v1);
    zero(v2);
    zero(v);
// The three loops around the innermost one are jammed; all share something.
#define S1(a, b, c) t1_[e][i + a][m + b][n] += A[l + c][i + a] * u[e][l + c][m + b][n];
#define S2(a, b, c) t2_[e][i + a][j + c][n] += A[m + b][j + c] * t1_[e][i + a][m + b][n];
#define S3(a, b, c) t[e][i + a][j + c][k] += A[n + b][k] * t2_[e][i + a][j + c][n + b];
#define S5(a, b, c) v1[e][i + a][m + b][n] += A[i + a][l + c] * r[e][l + c][m + b][n];
#define S6(a, b, c) v2[e][i + a][j + c][n] += A[j + c][m + b] * v1[e][i + a][m + b][n];
#define S7(a, b, c) v[e][i + a][j + b][k + c] += A[k + c][n] * v2[e][i + a][j + b][n];
#define JAMMED(x, tx, y, ty, z, tz, LAST, S) \
    BLOCK(e, t1, E) { \
        JAM_THREE(x, 32 * tx, END(N, tx), y, 32 * ty, END(N, ty), z, 32 * tz, END(N, tz), \
            LAST, S) \
    }
#define PRODUCTS(A1, A2, THIRD) \
    for (t1 = 0; t1 < (E + 31) / 32; t1++) \
        for (t2 = 0; t2 < TILES; t2++) \
            for (t3 = 0; t3 < TILES; t3++) { \
                for (t4 = 0; t4 < TILES; t4++) { \
                    for (t5 = 0; t5 < TILES; t5++) \
                        JAMMED(i, t2, m, t4, l, t5, VECTOR BLOCK(n, t3, N), A1) \
                    for (t5 = 0; t5 < TILES; t5++) \
                        JAMMED(i, t2, m, t4, j, t5, VECTOR BLOCK(n, t3, N), A2) \
                } \
                for (t4 = 0; t4 < TILES; t4++) \
                    for (t5 = 0; t5 < TILES; t5++) \
                        THIRD \
            }
#pragma omp parallel for private(t2, t3, t4, t5, e, i, j, k, l, m, n)
    PRODUCTS(S1, S2, JAMMED(i, t2, n, t3, j, t4, VECTOR BLOCK(k, t5, N), S3))
#pragma omp parallel for private(e, i, j, k)
    for (t1 = 0; t1 < (E + 31) / 32; t1++)
        BLOCK(e, t1, E)
            for (i = 0; i < N; i++)
                for (j = 0; j < N; j++)
                    for (k = 0; k < N; k++)
                        r[e][i][j][k] = t[e][i][j][k] / D[e][i][j][k];
#pragma omp parallel for private(t2, t3, t4, t5, e, i, j, k, l, m, n)
    PRODUCTS(S5, S6, JAMMED(i, t2, j, t4, k, t5, BLOCK(n, t3, N), S7))
}

static void products(cube *a, cube *b, cube *c, const double (*A)[N], const cube *u, int turned)
{
#define M(x, y) (turned ? A[y][x] : A[x][y])
    for (int e = 0; e < E; e++) {
        memset(a[e], 0, sizeof(cube));
        memset(b[e], 0, sizeof(cube));
        memset(c[e], 0, sizeof(cube));
        for (int i = 0; i < N; i++)
            for (int m = 0; m < N; m++)
                for (int n = 0; n < N; n++)
                    for (int l = 0; l < N; l++)
                        a[e][i][m][n] += M(i, l) * u[e][l][m][n];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int n = 0; n < N; n++)
                    for (int m = 0; m < N; m++)
                        b[e][i][j][n] += M(j, m) * a[e][i][m][n];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    for (int n = 0; n < N; n++)
                        c[e][i][j][k] += M(k, n) * b[e][i][j][n];
    }
}

static void reference(cube *restrict t1, cube *restrict t2, cube *restrict t, cube *restrict r,
    cube *restrict v1, cube *restrict v2, cube *restrict v, const double (*restrict A)[N],
    const cube *restrict u, const cube *restrict D)
{
    products(t1, t2, t, A, u, 1);
    for (int e = 0; e < E; e++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    r[e][i][j][k] = t[e][i][j][k] / D[e][i][j][k];
    products(v1, v2, v, A, r, 0);
}

#define SIZE E *N *N *N
#define ARRAYS(X) \
    X(t1_, SIZE) X(t2_, SIZE) X(t, SIZE) X(r, SIZE) X(v1, SIZE) X(v2, SIZE) X(v, SIZE) X(A, N *N) \
    X(u, SIZE) X(D, SIZE)
#define ARGUMENTS AT(t1_), AT(t2_), AT(t), AT(r), AT(v1), AT(v2), AT(v), AT(A), AT(u), AT(D)
// The divisor is far from zero: what is compared would be rounding errors otherwise.
#define SHIFTED D
// `t1` and `t2` are loops above.
#define number_t1 number_t1_
#define number_t2 number_t2_
#include "harness.h"
