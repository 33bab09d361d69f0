// gemver, from Pluto's transformations:
//   A += u1 v1' + u2 v2'   (0, j/32, i/32, i, j, 0)
//   x += 1.2 A' y          (0, i/32, j/32, j, i, 1)
//   x += z                 (1, i/32, i)
//   w += 1.5 A x           (2, i/32, j/32, i, j)
#ifndef N
#define N 45
#endif
#include "jam.h"

static _Alignas(64) double A[N][N], x[N], w[N], u1[N], v1[N], u2[N], v2[N], y[N], z[N];

static void by_hand(void)
{
    int t1, t2, i, j;
#pragma omp parallel for private(t2, i, j)
    for (t1 = 0; t1 < (N + 31) / 32; t1++)
        for (t2 = 0; t2 < (N + 31) / 32; t2++)
            for (i = 32 * t2; i < END(N, t2); i++) {
#pragma ivdep
#pragma vector always
                for (j = 32 * t1; j < END(N, t1); j++) {
                    A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
                    x[j] += 1.2 * (A[i][j] * y[i]);
                }
            }
#pragma omp parallel for private(i)
    for (t1 = 0; t1 < (N + 31) / 32; t1++) {
#pragma ivdep
#pragma vector always
        for (i = 32 * t1; i < END(N, t1); i++)
            x[i] += z[i];
    }
#define S(a, b) w[i + a] += 1.5 * (A[i + a][j] * x[j]);
#define LOOP for (j = 32 * t2; j < END(N, t2); j++)
#pragma omp parallel for private(t2, i, j)
    for (t1 = 0; t1 < (N + 31) / 32; t1++)
        for (t2 = 0; t2 < (N + 31) / 32; t2++) {
            JAM(i, 32 * t1, END(N, t1), LOOP, S)
        }
}

static void reference(double (*restrict A)[N], double *restrict x, double *restrict w,
    const double *restrict u1, const double *restrict v1, const double *restrict u2,
    const double *restrict v2, const double *restrict y, const double *restrict z)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x[i] += 1.2 * A[j][i] * y[j];
    for (int i = 0; i < N; i++)
        x[i] += z[i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            w[i] += 1.5 * A[i][j] * x[j];
}

#define ARRAYS(X) X(A, N *N) X(x, N) X(w, N) X(u1, N) X(v1, N) X(u2, N) X(v2, N) X(y, N) X(z, N)
#define ARGUMENTS AT(A), AT(x), AT(w), AT(u1), AT(v1), AT(u2), AT(v2), AT(y), AT(z)
#include "harness.h"
