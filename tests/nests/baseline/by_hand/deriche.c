// deriche, from Pluto's transformations. Statements with one loop are cut off before both filters.
// What sets the first two elements of a line is S1 and S2 forward, and S4 and S5 backward; the lines
// are rows at first, then columns:
//   S1, S2     (0, i/32, i, 0 and 1)          S8, S9     (4, j/32, j, 0 and 1)
//   S4, S5     (1, i/32, i, 0 and 1)          S11, S12   (5, j/32, j, 0 and 1)
//   S6         (2, i/32, j/32, i, j)          S13        (6, j/32, i/32, i, j)
//   S3, S7     (3, i/32, j/32, i, j, 0 and 1) S10        (7, j/32, i/32, i, j, 0)
//                                             S14        (7, j/32, (i+1)/32, i+1, j, 1)
#ifndef W
#define W 77
#define H 109
#endif
#include "jam.h"

#define A1 -0.18868165852083035
#define A2 0.11020906755542557
#define A3 -0.1836817792590426
#define A4 0.11444121081831306
#define B1 0.8408964152537145
#define B2 -0.6065306597126334
#define S1(i) y1_[i][0] = A1 * image[i][0];
#define S2(i) y1_[i][1] = A1 * image[i][1] + A2 * image[i][0] + B1 * y1_[i][0];
#define S3(i, j) \
    y1_[i][j] = A1 * image[i][j] + A2 * image[i][(j)-1] + B1 * y1_[i][(j)-1] + B2 * y1_[i][(j)-2];
#define S4(i) y2[i][H - 1] = 0;
#define S5(i) y2[i][H - 2] = A3 * image[i][H - 1] + B1 * y2[i][H - 1];
#define S6(i, j) \
    y2[i][H - 1 - (j)] = A3 * image[i][H - (j)] + A4 * image[i][H + 1 - (j)] + B1 * y2[i][H - (j)] \
        + B2 * y2[i][H + 1 - (j)];
#define S7(i, j) out[i][j] = y1_[i][j] + y2[i][j];
#define S8(j) y1_[0][j] = A1 * out[0][j];
#define S9(j) y1_[1][j] = A1 * out[1][j] + A2 * out[0][j] + B1 * y1_[0][j];
#define S10(i, j) \
    y1_[i][j] = A1 * out[i][j] + A2 * out[(i)-1][j] + B1 * y1_[(i)-1][j] + B2 * y1_[(i)-2][j];
#define S11(j) y2[W - 1][j] = 0;
#define S12(j) y2[W - 2][j] = A3 * out[W - 1][j] + B1 * y2[W - 1][j];
#define S13(i, j) \
    y2[W - 1 - (i)][j] = A3 * out[W - (i)][j] + A4 * out[W + 1 - (i)][j] + B1 * y2[W - (i)][j] \
        + B2 * y2[W + 1 - (i)][j];
#define S14(i, j) S7(i, j)

static _Alignas(64) double image[W][H], y1_[W][H], y2[W][H], out[W][H];

static void by_hand(void)
{
    int t2, t3, t4, t5, lbv, ubv;
#pragma omp parallel for private(t3)
    for (t2 = 0; t2 <= (W - 1) / 32; t2++)
        for (t3 = 32 * t2; t3 <= min(W - 1, 32 * t2 + 31); t3++) {
            S1(t3)
            S2(t3)
        }
#pragma omp parallel for private(t3)
    for (t2 = 0; t2 <= (W - 1) / 32; t2++)
        for (t3 = 32 * t2; t3 <= min(W - 1, 32 * t2 + 31); t3++) {
            S4(t3)
            S5(t3)
        }
#pragma omp parallel for private(t3, t4, t5)
    for (t2 = 0; t2 <= (W - 1) / 32; t2++)
        for (t3 = 0; t3 <= (H - 1) / 32; t3++)
            for (t4 = 32 * t2; t4 <= min(W - 1, 32 * t2 + 31); t4++)
                for (t5 = max(2, 32 * t3); t5 <= min(H - 1, 32 * t3 + 31); t5++)
                    S6(t4, t5)
#pragma omp parallel for private(t3, t4, t5)
    for (t2 = 0; t2 <= (W - 1) / 32; t2++)
        for (t3 = 0; t3 <= (H - 1) / 32; t3++)
            for (t4 = 32 * t2; t4 <= min(W - 1, 32 * t2 + 31); t4++) {
                for (t5 = 32 * t3; t5 <= min(1, 32 * t3 + 31); t5++)
                    S7(t4, t5)
                for (t5 = max(2, 32 * t3); t5 <= min(H - 1, 32 * t3 + 31); t5++) {
                    S3(t4, t5)
                    S7(t4, t5)
                }
            }
#pragma omp parallel for private(t3, lbv, ubv)
    for (t2 = 0; t2 <= (H - 1) / 32; t2++) {
        lbv = 32 * t2;
        ubv = min(H - 1, 32 * t2 + 31);
        VECTOR
        for (t3 = lbv; t3 <= ubv; t3++) {
            S8(t3)
            S9(t3)
        }
    }
#pragma omp parallel for private(t3, lbv, ubv)
    for (t2 = 0; t2 <= (H - 1) / 32; t2++) {
        lbv = 32 * t2;
        ubv = min(H - 1, 32 * t2 + 31);
        VECTOR
        for (t3 = lbv; t3 <= ubv; t3++) {
            S11(t3)
            S12(t3)
        }
    }
#pragma omp parallel for private(t3, t4, t5, lbv, ubv)
    for (t2 = 0; t2 <= (H - 1) / 32; t2++)
        for (t3 = 0; t3 <= (W - 1) / 32; t3++)
            for (t4 = max(2, 32 * t3); t4 <= min(W - 1, 32 * t3 + 31); t4++) {
                lbv = 32 * t2;
                ubv = min(H - 1, 32 * t2 + 31);
                VECTOR
                for (t5 = lbv; t5 <= ubv; t5++)
                    S13(t4, t5)
            }
#pragma omp parallel for private(t3, t4, t5, lbv, ubv)
    for (t2 = 0; t2 <= (H - 1) / 32; t2++)
        for (t3 = 0; t3 <= W / 32; t3++) {
            lbv = 32 * t2;
            ubv = min(H - 1, 32 * t2 + 31);
            if (t3 == 0) {
                VECTOR
                for (t5 = lbv; t5 <= ubv; t5++)
                    S14(0, t5)
            }
            for (t4 = max(2, 32 * t3); t4 <= min(W - 1, 32 * t3 + 31); t4++) {
                VECTOR
                for (t5 = lbv; t5 <= ubv; t5++) {
                    S10(t4, t5)
                    S14(t4 - 1, t5)
                }
            }
            if (t3 == W / 32) {
                VECTOR
                for (t5 = lbv; t5 <= ubv; t5++)
                    S14(W - 1, t5)
            }
        }
}

static void reference(double (*restrict image)[H], double (*restrict y1_)[H],
    double (*restrict y2)[H], double (*restrict out)[H])
{
    for (int i = 0; i < W; i++) {
        S1(i)
        S2(i)
        for (int j = 2; j < H; j++)
            S3(i, j)
    }
    for (int i = 0; i < W; i++) {
        S4(i)
        S5(i)
        for (int j = 2; j < H; j++)
            S6(i, j)
    }
    for (int i = 0; i < W; i++)
        for (int j = 0; j < H; j++)
            S7(i, j)
    for (int j = 0; j < H; j++) {
        S8(j)
        S9(j)
    }
    for (int i = 2; i < W; i++)
        for (int j = 0; j < H; j++)
            S10(i, j)
    for (int j = 0; j < H; j++) {
        S11(j)
        S12(j)
    }
    for (int i = 2; i < W; i++)
        for (int j = 0; j < H; j++)
            S13(i, j)
    for (int i = 0; i < W; i++)
        for (int j = 0; j < H; j++)
            S14(i, j)
}

#define ARRAYS(X) X(image, W *H) X(y1_, W *H) X(y2, W *H) X(out, W *H)
#define ARGUMENTS AT(image), AT(y1_), AT(y2), AT(out)
// C has a function `y1`.
#define number_y1 number_y1_
#include "harness.h"
