// A[i][j] = B[i][j] * sum over k of C[i][k] * D[k][j]: one product, then the samples.
void openblas(PARAMETERS)
{
    threads(omp_get_max_threads());
    gemm(PLAIN, PLAIN, A_1, A_2, C_2, C, D, A);
    #pragma omp parallel for simd
    for (int64_t x = 0; x < (int64_t)A_1 * A_2; x++)
        A[x] *= B[x];
}
