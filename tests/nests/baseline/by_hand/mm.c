// mm, from Pluto's transformations; the initialization apart:
//   C += A B   (i/32, j/32, k/32, i, k, j)
#ifndef NI
#define NI 37
#define NJ 41
#define NK 43
#endif
#include "jam.h"
#include <string.h>

static _Alignas(64) double C[NI][NJ], A[NI][NK], B[NK][NJ];

static void by_hand(void)
{
    int t1, t2, t3, i, j, k;
#pragma omp parallel for private(t2, i, j)
    for (t1 = 0; t1 < (NI + 31) / 32; t1++)
        for (t2 = 0; t2 < (NJ + 31) / 32; t2++)
            for (i = 32 * t1; i < END(NI, t1); i++) {
#pragma ivdep
#pragma vector always
                for (j = 32 * t2; j < END(NJ, t2); j++)
                    C[i][j] = 0;
            }
#define S(a, b) C[i + a][j] += A[i + a][k + b] * B[k + b][j];
#define LOOP VECTOR for (j = 32 * t2; j < END(NJ, t2); j++)
#pragma omp parallel for private(t2, t3, i, j, k)
    for (t1 = 0; t1 < (NI + 31) / 32; t1++)
        for (t2 = 0; t2 < (NJ + 31) / 32; t2++)
            for (t3 = 0; t3 < (NK + 31) / 32; t3++) {
                JAM_BOTH(i, 32 * t1, END(NI, t1), k, 32 * t3, END(NK, t3), LOOP, S)
            }
}

static void reference(double (*restrict C)[NJ], const double (*restrict A)[NK],
    const double (*restrict B)[NJ])
{
    memset(C, 0, NI * sizeof(*C));
    for (int i = 0; i < NI; i++)
        for (int k = 0; k < NK; k++)
            for (int j = 0; j < NJ; j++)
                C[i][j] += A[i][k] * B[k][j];
}

#define ARRAYS(X) X(C, NI *NJ) X(A, NI *NK) X(B, NK *NJ)
#define ARGUMENTS AT(C), AT(A), AT(B)
#include "harness.h"
