// bmm, from Pluto's transformations: C += A B (b/32, i/32, j/32, k/32, b, i, k, j), in TeML's Table 2.
#ifndef NB
#define NB 33
#define M 37
#define N 41
#define K 19
#endif
#include "jam.h"

static _Alignas(64) double C[NB][M][N], A[NB][M][K], B[NB][K][N];

static void by_hand(void)
{
    int t1, t2, t3, t4, b, i, j, k;
#pragma omp parallel for private(t2, t3, b, i, j)
    for (t1 = 0; t1 < (NB + 31) / 32; t1++)
        for (t2 = 0; t2 < (M + 31) / 32; t2++)
            for (t3 = 0; t3 < (N + 31) / 32; t3++)
                for (b = 32 * t1; b < END(NB, t1); b++)
                    for (i = 32 * t2; i < END(M, t2); i++)
                        for (j = 32 * t3; j < END(N, t3); j++)
                            C[b][i][j] = 0;
#define S(a, c) C[b][i + a][j] += A[b][i + a][k + c] * B[b][k + c][j];
#define LOOP VECTOR for (j = 32 * t3; j < END(N, t3); j++)
#pragma omp parallel for private(t2, t3, t4, b, i, j, k)
    for (t1 = 0; t1 < (NB + 31) / 32; t1++)
        for (t2 = 0; t2 < (M + 31) / 32; t2++)
            for (t3 = 0; t3 < (N + 31) / 32; t3++)
                for (t4 = 0; t4 < (K + 31) / 32; t4++)
                    for (b = 32 * t1; b < END(NB, t1); b++) {
                        JAM_BOTH(i, 32 * t2, END(M, t2), k, 32 * t4, END(K, t4), LOOP, S)
                    }
}

static void reference(double (*restrict C)[M][N], const double (*restrict A)[M][K],
    const double (*restrict B)[K][N])
{
    for (int b = 0; b < NB; b++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                C[b][i][j] = 0;
                for (int k = 0; k < K; k++)
                    C[b][i][j] += A[b][i][k] * B[b][k][j];
            }
}

#define ARRAYS(X) X(C, NB *M *N) X(A, NB *M *K) X(B, NB *K *N)
#define ARGUMENTS AT(C), AT(A), AT(B)
#include "harness.h"
