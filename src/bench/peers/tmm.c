// C[i][j] = sum over k of A[k][i] * B[k][j]: one product.
void openblas(PARAMETERS)
{
    threads(omp_get_max_threads());
    gemm(TRANSPOSED, PLAIN, C_1, C_2, A_1, A, B, C);
}
