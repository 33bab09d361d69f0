// O[n][g][f][h][w] = sum over c, kh and kw of I[n][g][c][h+kh][w+kw] * W[g][f][c][kh][kw]: for each
// image and group, the windows as the columns of a matrix, and a product.
#define SUM (W_3 * W_4 * W_5)
static double windows[SUM * O_4 * O_5];
#pragma omp threadprivate(windows)

void openblas(PARAMETERS)
{
    threads(1);
    #pragma omp parallel for collapse(2)
    for (int64_t n = 0; n < O_1; n++) {
        for (int64_t g = 0; g < O_2; g++) {
            const double *image = I + (n * I_2 + g) * I_3 * I_4 * I_5;
            double *to = windows;
            for (int64_t c = 0; c < W_3; c++) {
                for (int64_t kh = 0; kh < W_4; kh++) {
                    for (int64_t kw = 0; kw < W_5; kw++) {
                        for (int64_t h = 0; h < O_4; h++) {
                            for (int64_t w = 0; w < O_5; w++)
                                *to++ = image[(c * I_4 + h + kh) * I_5 + w + kw];
                        }
                    }
                }
            }
            gemm(PLAIN, PLAIN, O_3, O_4 * O_5, SUM, W + g * W_2 * SUM, windows,
                 O + (n * O_2 + g) * O_3 * O_4 * O_5);
        }
    }
}
