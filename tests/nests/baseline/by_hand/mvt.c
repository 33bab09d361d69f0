// mvt, from Pluto's transformations: both products have two loops and no dependence between them, so
// they share these, and too many operands for unroll and jam.
//   x1 += A y1    (i/32, j/32, i, j, 0)
//   x2 += A' y2   (i/32, j/32, i, j, 1)
#ifndef N
#define N 45
#endif
#include "jam.h"

static _Alignas(64) double x1[N], x2[N], A[N][N], y1_[N], y2[N];

static void by_hand(void)
{
    int t1, t2, i, j;
#pragma omp parallel for private(t2, i, j)
    for (t1 = 0; t1 < (N + 31) / 32; t1++)
        for (t2 = 0; t2 < (N + 31) / 32; t2++)
            for (i = 32 * t1; i < END(N, t1); i++)
                for (j = 32 * t2; j < END(N, t2); j++) {
                    x1[i] += A[i][j] * y1_[j];
                    x2[i] += A[j][i] * y2[j];
                }
}

static void reference(double *restrict x1, double *restrict x2, const double (*restrict A)[N],
    const double *restrict y1, const double *restrict y2)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            x1[i] += A[i][j] * y1[j];
            x2[i] += A[j][i] * y2[j];
        }
}

#define ARRAYS(X) X(x1, N) X(x2, N) X(A, N *N) X(y1_, N) X(y2, N)
#define ARGUMENTS AT(x1), AT(x2), AT(A), AT(y1_), AT(y2)
// C has a function `y1`.
#define number_y1 number_y1_
#include "harness.h"
