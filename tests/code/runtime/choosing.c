// The kernel of a random program, which gcc 12 compiles wrongly at -O3 for AVX-512.
#include <math.h>
#include <stdint.h>

static inline double own_fmin(double a, double b) { return (a < b || b != b) ? a : b; }
static inline double own_fmax(double a, double b) { return (a > b || b != b) ? a : b; }
static inline float own_fminf(float a, float b) { return (a < b || b != b) ? a : b; }
static inline float own_fmaxf(float a, float b) { return (a > b || b != b) ? a : b; }
static inline int32_t own_abs(int32_t a) { return a < 0 ? -a : a; }
static inline int64_t own_abs64(int64_t a) { return a < 0 ? -a : a; }

// kernel computes
//   R[x1][x2][x3][x0] = min(x4: select(T1[x0 + 1][x1 + 1][x2 + 1][x3 + 1][x4 + 1] <= 0, T0[x1 + 1] * T1[x0 + 1][x1 + 1][x2 + 1][x3 + 1][x4 + 1], T1[x0 + 1][x1 + 1][x2 + 1][x3 + 1][x4 + 1]) * E[x0][x1][x2][x3][x4])
// by
void kernel(
    double R[restrict 7][1][1][2],
    const double T1[restrict 4][9][3][3][4],
    const double T0[restrict 9],
    const double E[restrict 2][7][1][1][2])
{
    for (int64_t teml_1 = 0; teml_1 < 7; teml_1++)
        for (int64_t teml_4 = 0; teml_4 < 2; teml_4++)
            R[teml_1][0][0][teml_4] = INFINITY;
    for (int x0 = 0; x0 < 2; x0++) {
        for (int x1_o = 0; x1_o < 3; x1_o++) {
            for (int x2 = 0; x2 < 1; x2++) {
                for (int x3 = 0; x3 < 1; x3++) {
                    for (int x4 = 0; x4 < 2; x4++) {
                        R[2*x1_o][x2][x3][x0] = own_fmin(R[2*x1_o][x2][x3][x0], (T1[x0 + 1][2*x1_o + 1][x2 + 1][x3 + 1][x4 + 1] <= 0.0 ? T0[2*x1_o + 1] * T1[x0 + 1][2*x1_o + 1][x2 + 1][x3 + 1][x4 + 1] : T1[x0 + 1][2*x1_o + 1][x2 + 1][x3 + 1][x4 + 1]) * E[x0][2*x1_o][x2][x3][x4]);
                        R[2*x1_o + 1][x2][x3][x0] = own_fmin(R[2*x1_o + 1][x2][x3][x0], (T1[x0 + 1][2*x1_o + 2][x2 + 1][x3 + 1][x4 + 1] <= 0.0 ? T0[2*x1_o + 2] * T1[x0 + 1][2*x1_o + 2][x2 + 1][x3 + 1][x4 + 1] : T1[x0 + 1][2*x1_o + 2][x2 + 1][x3 + 1][x4 + 1]) * E[x0][2*x1_o + 1][x2][x3][x4]);
                    }
                }
            }
        }
        for (int x1_r = 6; x1_r < 7; x1_r++) {
            for (int x2_2 = 0; x2_2 < 1; x2_2++) {
                for (int x3_2 = 0; x3_2 < 1; x3_2++) {
                    for (int x4_2 = 0; x4_2 < 2; x4_2++) {
                        R[x1_r][x2_2][x3_2][x0] = own_fmin(R[x1_r][x2_2][x3_2][x0], (T1[x0 + 1][x1_r + 1][x2_2 + 1][x3_2 + 1][x4_2 + 1] <= 0.0 ? T0[x1_r + 1] * T1[x0 + 1][x1_r + 1][x2_2 + 1][x3_2 + 1][x4_2 + 1] : T1[x0 + 1][x1_r + 1][x2_2 + 1][x3_2 + 1][x4_2 + 1]) * E[x0][x1_r][x2_2][x3_2][x4_2]);
                    }
                }
            }
        }
    }
}
