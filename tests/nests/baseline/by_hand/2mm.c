// 2mm, from Pluto's transformations:
//   tmp = 0        (0, i/32, j/32, i, j, 1)
//   D *= 1.2       (0, i/32, l/32, i, l, 0)
//   tmp += A B     (1, i/32, j/32, 0, k/32, i, 0, k, j)
//   D += tmp C     (1, i/32, j/32, 1, l/32, i, j, 1, l)
#ifndef NI
#define NI 37
#define NJ 41
#define NK 43
#define NL 35
#endif
#include "jam.h"

static _Alignas(64) double tmp[NI][NJ], D[NI][NL], A[NI][NK], B[NK][NJ], C[NJ][NL];

static void by_hand(void)
{
    int t1, t2, t3, i, j, k, l;
#pragma omp parallel for private(t2, i, l)
    for (t1 = 0; t1 < (NI + 31) / 32; t1++)
        for (t2 = 0; t2 < (NL + 31) / 32; t2++)
            for (i = 32 * t1; i < END(NI, t1); i++) {
#pragma ivdep
#pragma vector always
                for (l = 32 * t2; l < END(NL, t2); l++)
                    D[i][l] *= 1.2;
            }
#pragma omp parallel for private(t2, i, j)
    for (t1 = 0; t1 < (NI + 31) / 32; t1++)
        for (t2 = 0; t2 < (NJ + 31) / 32; t2++)
            for (i = 32 * t1; i < END(NI, t1); i++) {
#pragma ivdep
#pragma vector always
                for (j = 32 * t2; j < END(NJ, t2); j++)
                    tmp[i][j] = 0;
            }
#define S1(a, b) tmp[i + a][j] += 1.5 * (A[i + a][k + b] * B[k + b][j]);
#define S2(a, b) D[i + a][l] += tmp[i + a][j + b] * C[j + b][l];
#define LOOP1 VECTOR for (j = 32 * t2; j < END(NJ, t2); j++)
#define LOOP2 VECTOR for (l = 32 * t3; l < END(NL, t3); l++)
#pragma omp parallel for private(t2, t3, i, j, k, l)
    for (t1 = 0; t1 < (NI + 31) / 32; t1++)
        for (t2 = 0; t2 < (NJ + 31) / 32; t2++) {
            for (t3 = 0; t3 < (NK + 31) / 32; t3++) {
                JAM_BOTH(i, 32 * t1, END(NI, t1), k, 32 * t3, END(NK, t3), LOOP1, S1)
            }
            for (t3 = 0; t3 < (NL + 31) / 32; t3++) {
                JAM_BOTH(i, 32 * t1, END(NI, t1), j, 32 * t2, END(NJ, t2), LOOP2, S2)
            }
        }
}

static void reference(double (*restrict tmp)[NJ], double (*restrict D)[NL],
    const double (*restrict A)[NK], const double (*restrict B)[NJ],
    const double (*restrict C)[NL])
{
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            tmp[i][j] = 0;
            for (int k = 0; k < NK; k++)
                tmp[i][j] += 1.5 * A[i][k] * B[k][j];
        }
    for (int i = 0; i < NI; i++)
        for (int l = 0; l < NL; l++) {
            D[i][l] *= 1.2;
            for (int j = 0; j < NJ; j++)
                D[i][l] += tmp[i][j] * C[j][l];
        }
}

#define ARRAYS(X) X(tmp, NI *NJ) X(D, NI *NL) X(A, NI *NK) X(B, NK *NJ) X(C, NJ *NL)
#define ARGUMENTS AT(tmp), AT(D), AT(A), AT(B), AT(C)
#include "harness.h"
