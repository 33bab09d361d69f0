// seidel-2d, from Pluto's transformations (t, t+i, 2t+i+j), with a wavefront of tiles:
//   (t/32+(t+i)/32, t/32, (2t+i+j)/32, t, t+i, 2t+i+j)
#ifndef N
#define N 45
#define T 37
#endif
#include "jam.h"
#define floord(n, d) ((n) < 0 ? -((-(n) + (d)-1) / (d)) : (n) / (d))
#define ceild(n, d) floord((n) + (d)-1, d)

static void by_hand(double (*restrict A)[N])
{
    int t1, t2, t3, t, i, j;
    for (t1 = 0; t1 <= (T - 1) / 32 + (T + N - 3) / 32; t1++) {
#pragma omp parallel for private(t3, t, i, j)
        for (t2 = max(0, t1 - (T + N - 3) / 32); t2 <= min((T - 1) / 32, t1); t2++)
            for (t3 = 0; t3 <= floord(2 * T + 2 * N - 6, 32); t3++)
                for (t = max(0, 32 * t2); t < min(T, 32 * t2 + 32); t++)
                    for (i = max(32 * (t1 - t2), t + 1);
                         i < min(t + N - 1, 32 * (t1 - t2) + 32); i++)
                        for (j = max(32 * t3, t + i + 1); j < min(t + i + N - 1, 32 * t3 + 32); j++)
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
