// 3mm, from Pluto's transformations, the initializations apart, which have tiles of their own:
//   F += C D   (2, j/32, l/32, m/32, j, m, l)
//   E += A B   (3, i/32, j/32, 0, k/32, i, 0, k, j)
//   G += E F   (3, i/32, j/32, 1, l/32, i, j, 1, l)
#ifndef NI
#define NI 37
#define NJ 41
#define NK 43
#define NL 35
#define NM 39
#endif
#include "jam.h"

static _Alignas(64) double E[NI][NJ], F[NJ][NL], G[NI][NL], A[NI][NK], B[NK][NJ], C[NJ][NM],
    D[NM][NL];

static void by_hand(void)
{
    int t1, t2, t3, i, j, k, l, m;
#define ZERO(X, rows, columns) \
    for (t1 = 0; t1 < (rows + 31) / 32; t1++) \
        for (t2 = 0; t2 < (columns + 31) / 32; t2++) \
            for (i = 32 * t1; i < END(rows, t1); i++) \
                for (j = 32 * t2; j < END(columns, t2); j++) \
                    X[i][j] = 0;
#pragma omp parallel for private(t2, i, j)
    ZERO(G, NI, NL)
#pragma omp parallel for private(t2, i, j)
    ZERO(F, NJ, NL)
#pragma omp parallel for private(t2, i, j)
    ZERO(E, NI, NJ)
#define S1(a, b) F[j + a][l] += C[j + a][m + b] * D[m + b][l];
#define S2(a, b) E[i + a][j] += A[i + a][k + b] * B[k + b][j];
#define S3(a, b) G[i + a][l] += E[i + a][j + b] * F[j + b][l];
#define LOOP1 VECTOR for (l = 32 * t2; l < END(NL, t2); l++)
#define LOOP2 VECTOR for (j = 32 * t2; j < END(NJ, t2); j++)
#define LOOP3 VECTOR for (l = 32 * t3; l < END(NL, t3); l++)
#pragma omp parallel for private(t2, t3, j, l, m)
    for (t1 = 0; t1 < (NJ + 31) / 32; t1++)
        for (t2 = 0; t2 < (NL + 31) / 32; t2++)
            for (t3 = 0; t3 < (NM + 31) / 32; t3++) {
                JAM_BOTH(j, 32 * t1, END(NJ, t1), m, 32 * t3, END(NM, t3), LOOP1, S1)
            }
#pragma omp parallel for private(t2, t3, i, j, k, l)
    for (t1 = 0; t1 < (NI + 31) / 32; t1++)
        for (t2 = 0; t2 < (NJ + 31) / 32; t2++) {
            for (t3 = 0; t3 < (NK + 31) / 32; t3++) {
                JAM_BOTH(i, 32 * t1, END(NI, t1), k, 32 * t3, END(NK, t3), LOOP2, S2)
            }
            for (t3 = 0; t3 < (NL + 31) / 32; t3++) {
                JAM_BOTH(i, 32 * t1, END(NI, t1), j, 32 * t2, END(NJ, t2), LOOP3, S3)
            }
        }
}

static void product(int n, int m, int p, double *C, const double *A, const double *B)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i * m + j] = 0;
            for (int k = 0; k < p; k++)
                C[i * m + j] += A[i * p + k] * B[k * m + j];
        }
}

static void reference(double *E, double *F, double *G, const double *A, const double *B,
    const double *C, const double *D)
{
    product(NI, NJ, NK, E, A, B);
    product(NJ, NL, NM, F, C, D);
    product(NI, NL, NJ, G, E, F);
}

#define ARRAYS(X) \
    X(E, NI *NJ) X(F, NJ *NL) X(G, NI *NL) X(A, NI *NK) X(B, NK *NJ) X(C, NJ *NM) X(D, NM *NL)
#define ARGUMENTS AT(E), AT(F), AT(G), AT(A), AT(B), AT(C), AT(D)
#include "harness.h"
