// C[b][i][j] = sum over k of A[b][i][k] * B[b][k][j]: a product for each b, shared out among the
// threads.
void openblas(PARAMETERS)
{
    threads(1);
    #pragma omp parallel for
    for (int64_t b = 0; b < C_1; b++)
        gemm(PLAIN, PLAIN, C_2, C_3, A_3, A + b * A_2 * A_3, B + b * B_2 * B_3, C + b * C_2 * C_3);
}
