// interp, from Pluto's transformations, which part among the tiles; initializations apart:
//   t += A u   (e/32, i/32, n/32, 0, m/32, 0, l/32, e, i, m, l, n)
//   s += A t   (e/32, i/32, n/32, 0, m/32, 1, j/32, e, i, m, j, n)
//   v += A s   (e/32, i/32, n/32, 1, j/32, k/32, e, i, j, k, n)
#ifndef E
#define E 39
#define N 5
#endif
#include "jam.h"
#include <string.h>

typedef double cube[N][N][N];

static _Alignas(64) cube t[E], s[E], v[E], u[E];
static _Alignas(64) double A[N][N];

static void by_hand(void)
{
    int t1, t2, t3, t4, t5, e, i, j, k, l, m, n;
#define BLOCK(x, t, end) for (x = 32 * t; x < END(end, t); x++)
#define ZERO(X) \
    for (t1 = 0; t1 < (E + 31) / 32; t1++) \
        BLOCK(e, t1, E) \
            for (i = 0; i < N; i++) \
                for (j = 0; j < N; j++) \
                    for (k = 0; k < N; k++) \
                        X[e][i][j][k] = 0;
#pragma omp parallel for private(e, i, j, k)
    ZERO(v)
#pragma omp parallel for private(e, i, j, k)
    ZERO(s)
#pragma omp parallel for private(e, i, j, k)
    ZERO(t)
#define S1(a, b) t[e + a][i][m][n] += A[i][l] * u[e + a][l][m][n];
#define S2(a, b) s[e + a][i][j][n] += A[j][m] * t[e + a][i][m][n];
#define S3(a, b) v[e + a][i][j][k] += A[k][n] * s[e + a][i][j][n];
#define TILES (N + 31) / 32
#define LOOPS1 BLOCK(i, t2, N) BLOCK(m, t4, N) BLOCK(l, t5, N) VECTOR BLOCK(n, t3, N)
#define LOOPS2 BLOCK(i, t2, N) BLOCK(m, t4, N) BLOCK(j, t5, N) VECTOR BLOCK(n, t3, N)
#define LOOPS3 BLOCK(i, t2, N) BLOCK(j, t4, N) BLOCK(k, t5, N) BLOCK(n, t3, N)
#pragma omp parallel for private(t2, t3, t4, t5, e, i, j, k, l, m, n)
    for (t1 = 0; t1 < (E + 31) / 32; t1++)
        for (t2 = 0; t2 < TILES; t2++)
            for (t3 = 0; t3 < TILES; t3++) {
                for (t4 = 0; t4 < TILES; t4++) {
                    for (t5 = 0; t5 < TILES; t5++) {
                        JAM(e, 32 * t1, END(E, t1), LOOPS1, S1)
                    }
                    for (t5 = 0; t5 < TILES; t5++) {
                        JAM(e, 32 * t1, END(E, t1), LOOPS2, S2)
                    }
                }
                for (t4 = 0; t4 < TILES; t4++)
                    for (t5 = 0; t5 < TILES; t5++) {
                        JAM(e, 32 * t1, END(E, t1), LOOPS3, S3)
                    }
            }
}

static void reference(cube *restrict t, cube *restrict s, cube *restrict v,
    const double (*restrict A)[N], const cube *restrict u)
{
    for (int e = 0; e < E; e++) {
        memset(t[e], 0, sizeof(cube));
        memset(s[e], 0, sizeof(cube));
        memset(v[e], 0, sizeof(cube));
        for (int i = 0; i < N; i++)
            for (int m = 0; m < N; m++)
                for (int n = 0; n < N; n++)
                    for (int l = 0; l < N; l++)
                        t[e][i][m][n] += A[i][l] * u[e][l][m][n];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int n = 0; n < N; n++)
                    for (int m = 0; m < N; m++)
                        s[e][i][j][n] += A[j][m] * t[e][i][m][n];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    for (int n = 0; n < N; n++)
                        v[e][i][j][k] += A[k][n] * s[e][i][j][n];
    }
}

#define ARRAYS(X) X(t, E *N *N *N) X(s, E *N *N *N) X(v, E *N *N *N) X(A, N *N) X(u, E *N *N *N)
#define ARGUMENTS AT(t), AT(s), AT(v), AT(A), AT(u)
#include "harness.h"
