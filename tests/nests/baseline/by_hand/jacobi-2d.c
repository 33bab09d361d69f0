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
#define ceild(n, d) floord((n) + (d)-1, d)

static _Alignas(64) double A[N][N], B[N][N];

static void by_hand(void)
{
    int t1, t2, t3, t, i, j, lbp, ubp, lbv, ubv, lb1, ub1, lb2, ub2;
#define S1(i, j) B[i][j] = 0.2 * (A[i][j] + A[i][(j)-1] + A[i][(j) + 1] + A[(i) + 1][j] + A[(i)-1][j]);
#define S2(i, j) A[i][j] = 0.2 * (B[i][j] + B[i][(j)-1] + B[i][(j) + 1] + B[(i) + 1][j] + B[(i)-1][j]);
    for (t1 = -1; t1 <= floord(T, 8); t1++) {
        lbp = max(0, ceild(32 * t1 - 33, 64));
        ubp = min(floord(2 * T + N - 3, 32), floord(32 * t1 + 2 * N + 29, 64));
#pragma omp parallel for private(t3, t, i, j, lbv, ubv, lb1, ub1, lb2, ub2)
        for (t2 = lbp; t2 <= ubp; t2++)
            for (t3 = max(max(0, ceild(16 * t1 - 32, 32)), ceild(32 * t2 - N - 29, 32));
                 t3 <= min(min(floord(2 * T + N - 3, 32), floord(16 * t1 + N + 31, 32)),
                     floord(32 * t2 + N + 28, 32));
                 t3++)
                for (t = max(max(0, 8 * t1 - 1), max(ceild(32 * t2 - N + 1, 2), ceild(32 * t3 - N + 1, 2)));
                     t <= min(min(T - 1, 8 * t1 + 16), min(16 * t2 + 15, 16 * t3 + 15)); t++) {
                    // `i` is 2t+i for the first statement, and 2t+i+1 for the second one: what one has
                    // before the other one, both, and what one has after the other one.
                    lb1 = max(max(32 * t2, 4 * t - 32 * (t1 - t2) - 31), 2 * t + 1);
                    ub1 = min(min(32 * t2 + 31, 4 * t - 32 * (t1 - t2)), 2 * t + N - 2);
                    lb2 = max(max(32 * t2, 4 * t - 32 * (t1 - t2) - 29), 2 * t + 2);
                    ub2 = min(min(32 * t2 + 31, 4 * t - 32 * (t1 - t2) + 2), 2 * t + N - 1);
                    for (i = lb1; i <= min(ub1, lb2 - 1); i++) {
                        lbv = max(32 * t3, 2 * t + 1);
                        ubv = min(32 * t3 + 31, 2 * t + N - 2);
                        VECTOR
                        for (j = lbv; j <= ubv; j++)
                            S1(i - 2 * t, j - 2 * t)
                    }
                    for (i = max(lb1, lb2); i <= min(ub1, ub2); i++) {
                        if (32 * t3 <= 2 * t + 1)
                            S1(i - 2 * t, 1)
                        lbv = max(32 * t3, 2 * t + 2);
                        ubv = min(32 * t3 + 31, 2 * t + N - 2);
                        VECTOR
                        for (j = lbv; j <= ubv; j++) {
                            S1(i - 2 * t, j - 2 * t)
                            S2(i - 2 * t - 1, j - 2 * t - 1)
                        }
                        if (32 * t3 + 31 >= 2 * t + N - 1)
                            S2(i - 2 * t - 1, N - 2)
                    }
                    for (i = max(ub1 + 1, lb2); i <= ub2; i++) {
                        lbv = max(32 * t3, 2 * t + 2);
                        ubv = min(32 * t3 + 31, 2 * t + N - 1);
                        VECTOR
                        for (j = lbv; j <= ubv; j++)
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
