// C[i][j] = sum over k of A[i][k] * B[k][j]: one product.
void openblas(PARAMETERS)
{
    threads(omp_get_max_threads());
    gemm(PLAIN, PLAIN, C_1, C_2, A_2, A, B, C);
}
