// v[e][i][j][k] = sum over l, m and n of A[k][n] * A[j][m] * A[i][l] * u[e][l][m][n]: for each e a
// product for the first sum, one for each i for the second, and one for the third.
enum { N = A_1 };

void openblas(PARAMETERS)
{
    threads(1);
    #pragma omp parallel for
    for (int64_t e = 0; e < v_1; e++) {
        double t[N * N * N], s[N * N * N];
        gemm(PLAIN, PLAIN, N, N * N, N, A, u + e * N * N * N, t);
        for (int64_t i = 0; i < N; i++)
            gemm(PLAIN, PLAIN, N, N, N, A, t + i * N * N, s + i * N * N);
        gemm(PLAIN, TRANSPOSED, N * N, N, N, s, A, v + e * N * N * N);
    }
}
