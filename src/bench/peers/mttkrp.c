// A[i][j] = sum over k and l of B[i][k][l] * D[l][j] * C[k][j]: for each i a product of the slice
// of B with D, whose rows are scaled and added.
static double BD[B_2 * D_2];
#pragma omp threadprivate(BD)

void openblas(PARAMETERS)
{
    threads(1);
    #pragma omp parallel for
    for (int64_t i = 0; i < A_1; i++) {
        gemm(PLAIN, PLAIN, B_2, D_2, B_3, B + i * B_2 * B_3, D, BD);
        for (int64_t j = 0; j < A_2; j++)
            A[i * A_2 + j] = 0.0;
        for (int64_t k = 0; k < B_2; k++) {
            for (int64_t j = 0; j < A_2; j++)
                A[i * A_2 + j] += BD[k * D_2 + j] * C[k * C_2 + j];
        }
    }
}
