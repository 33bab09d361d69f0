// seidel-2d, from Pluto's transformations (t, t+i, 2t+i+j), with a wavefront of tiles:
//   (t/32+(t+i)/32, t/32, (2t+i+j)/32, t, t+i, 2t+i+j)
#ifndef N
#define N 45
#define T 37
#endif
#include "jam.h"
#define floord(n, d) ((n) < 0 ? -((-(n) + (d)-1) / (d)) : (n) / (d))
#define ceild(n, d) floord((n) + (d)-1, d)

static _Alignas(64) double A[N][N];

static void by_hand(void)
{
    int t1, t2, t3, t, i, j;
    for (t1 = 0; t1 <= (T - 1) / 32 + (T + N - 3) / 32; t1++) {
#pragma omp parallel for private(t3, t, i, j)
        for (t2 = max(max(0, t1 - (T + N - 3) / 32), ceild(32 * t1 - N - 29, 64));
             t2 <= min(min((T - 1) / 32, t1), floord(16 * t1 + 15, 32)); t2++)
            for (t3 = max(max(t1, 2 * t2), 0);
                 t3 <= min(min(floord(2 * T + 2 * N - 6, 32), floord(32 * t1 + N + 60, 32)),
                     floord(64 * t2 + 2 * N + 58, 32));
                 t3++)
                for (t = max(max(32 * t2, 32 * (t1 - t2) - N + 2), ceild(32 * t3 - 2 * N + 4, 2));
                     t <= min(min(T - 1, 32 * t2 + 31), min(32 * (t1 - t2) + 30, 16 * t3 + 14)); t++)
                    for (i = max(max(32 * (t1 - t2), t + 1), 32 * t3 - t - N + 2);
                         i <= min(min(32 * (t1 - t2) + 31, t + N - 2), 32 * t3 - t + 30); i++)
                        for (j = max(32 * t3, t + i + 1); j <= min(t + i + N - 2, 32 * t3 + 31); j++)
                            A[i - t][j - t - i] = (A[i - t - 1][j - t - i - 1]
                                + A[i - t - 1][j - t - i] + A[i - t - 1][j - t - i + 1]
                                + A[i - t][j - t - i - 1] + A[i - t][j - t - i]
                                + A[i - t][j - t - i + 1] + A[i - t + 1][j - t - i - 1]
                                + A[i - t + 1][j - t - i] + A[i - t + 1][j - t - i + 1]) / 9;
    }
}

static void reference(double (*restrict A)[N])
{
    for (int t = 0; t < T; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j]
                    + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9;
}

#define ARRAYS(X) X(A, N *N)
#define ARGUMENTS AT(A)
#include "harness.h"
