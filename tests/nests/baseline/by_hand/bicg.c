// bicg, from Pluto's transformations: initializations, which have one loop, part all others.
//   s += A' r   (j/32, i/32, i, j)
//   q += A p    (i/32, j/32, i, j)
#ifndef N
#define N 45
#define M 41
#endif
#include "jam.h"

static _Alignas(64) double s[M], q[N], A[N][M], r[N], p[M];

static void by_hand(void)
{
    int t1, t2, i, j;
#pragma omp parallel for private(j)
    for (t1 = 0; t1 < (M + 31) / 32; t1++)
        for (j = 32 * t1; j < END(M, t1); j++)
            s[j] = 0;
#define S1(a, b) s[j] += A[i + a][j] * r[i + a];
#define S2(a, b) q[i + a] += A[i + a][j] * p[j];
#define LOOP for (j = 32 * t2; j < END(M, t2); j++)
#define LOOP1 VECTOR for (j = 32 * t1; j < END(M, t1); j++)
#pragma omp parallel for private(t2, i, j)
    for (t1 = 0; t1 < (M + 31) / 32; t1++)
        for (t2 = 0; t2 < (N + 31) / 32; t2++) {
            JAM(i, 32 * t2, END(N, t2), LOOP1, S1)
        }
#pragma omp parallel for private(i)
    for (t1 = 0; t1 < (N + 31) / 32; t1++)
        for (i = 32 * t1; i < END(N, t1); i++)
            q[i] = 0;
#pragma omp parallel for private(t2, i, j)
    for (t1 = 0; t1 < (N + 31) / 32; t1++)
        for (t2 = 0; t2 < (M + 31) / 32; t2++) {
            JAM(i, 32 * t1, END(N, t1), LOOP, S2)
        }
}

static void reference(double *restrict s, double *restrict q, const double (*restrict A)[M],
    const double *restrict r, const double *restrict p)
{
    for (int j = 0; j < M; j++)
        s[j] = 0;
    for (int i = 0; i < N; i++) {
        q[i] = 0;
        for (int j = 0; j < M; j++) {
            s[j] += A[i][j] * r[i];
            q[i] += A[i][j] * p[j];
        }
    }
}

#define ARRAYS(X) X(s, M) X(q, N) X(A, N *M) X(r, N) X(p, M)
#define ARGUMENTS AT(s), AT(q), AT(A), AT(r), AT(p)
#include "harness.h"
