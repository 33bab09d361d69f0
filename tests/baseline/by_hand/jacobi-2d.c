// jacobi-2d, from Pluto's transformations with diamond tiles, the points of a tile in the order of
// time, and both statements in one innermost loop:
//   B   ((2t-i)/32+(2t+i)/32, (2t+i)/32, (2t+j)/32, t, 2t+i, 2t+j, 0)
//   A   ((2t-i+1)/32+(2t+i+1)/32, (2t+i+1)/32, (2t+j+1)/32, t, 2t+i+1, 2t+j+1, 1)
#ifndef N
#define N 75
#define T 37
#endif
#include "jam.h"
#define floord(n, d) ((n) < 0 ? -((-(n) + (d)-1) / (d)) : (n) / (d))

static void by_hand(double (*restrict A)[N], double (*restrict B)[N])
{
    int t1, t2, t3, t, i, j, lbv, ubv;
#define S1(i, j) B[i][j] = 0.2 * (A[i][j] + A[i][(j)-1] + A[i][(j) + 1] + A[(i) + 1][j] + A[(i)-1][j]);
#define S2(i, j) A[i][j] = 0.2 * (B[i][j] + B[i][(j)-1] + B[i][(j) + 1] + B[(i) + 1][j] + B[(i)-1][j]);
    for (t1 = -1; t1 <= floord(4 * T, 32) + 1; t1++) {
#pragma omp parallel for private(t3, t, i, j, lbv, ubv)
        for (t2 = 0; t2 <= (2 * T + N) / 32; t2++)
            for (t3 = 0; t3 <= (2 * T + N) / 32; t3++)
                for (t = max(0, 8 * t1 - 1); t < min(T, 8 * t1 + 17); t++)
                    for (i = max(max(32 * t2, 4 * t - 32 * (t1 - t2) - 31), 2 * t + 1);
                         i <= min(min(32 * t2 + 31, 4 * t + 2 - 32 * (t1 - t2)), 2 * t + N - 1); i++) {
                        // `i` is 2t+i for the first statement, and 2t+i+1 for the second one.
                        const int first = i <= 2 * t + N - 2 && i <= 4 * t - 32 * (t1 - t2);
                        const int second = i >= 2 * t + 2 && i >= 4 * t + 2 - 32 * (t1 - t2) - 31;
                        lbv = max(32 * t3, 2 * t + 1);
                        ubv = min(32 * t3 + 31, 2 * t + N - 1);
                        if (first && second) {
                            if (lbv <= ubv && lbv == 2 * t + 1) {
                                S1(i - 2 * t, lbv - 2 * t)
                                lbv++;
                            }
#pragma ivdep
#pragma vector always
                            for (j = lbv; j <= min(ubv, 2 * t + N - 2); j++) {
                                S1(i - 2 * t, j - 2 * t)
                                S2(i - 2 * t - 1, j - 2 * t - 1)
                            }
                            if (lbv <= ubv && ubv == 2 * t + N - 1)
                                S2(i - 2 * t - 1, ubv - 2 * t - 1)
                        } else if (first) {
#pragma ivdep
#pragma vector always
                            for (j = lbv; j <= min(ubv, 2 * t + N - 2); j++)
                                S1(i - 2 * t, j - 2 * t)
                        } else if (second) {
#pragma ivdep
#pragma vector always
                            for (j = max(lbv, 2 * t + 2); j <= ubv; j++)
                                S2(i - 2 * t - 1, j - 2 * t - 1)
                        }
                    }
    }
}

static void reference(double (*restrict A)[N], double (*restrict B)[N])
{
    for (int t = 0; t < T; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                S1(i, j)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                S2(i, j)
    }
}

#define ARRAYS(X) X(A, N *N) X(B, N *N)
#define ARGUMENTS AT(A), AT(B)
#include "harness.h"
