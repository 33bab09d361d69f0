// t = (A' x A' x A') u, r = t / D entry by entry, v = (A x A x A) r for each element e, where A' is A
// transposed: products as in the interpolation.
enum { N = A_1 };

static void apply(int a_is, int a_last_is, const double *A, const double *from, double *to)
{
    double first[N * N * N], second[N * N * N];
    gemm(a_is, PLAIN, N, N * N, N, A, from, first);
    for (int64_t i = 0; i < N; i++)
        gemm(a_is, PLAIN, N, N, N, A, first + i * N * N, second + i * N * N);
    gemm(PLAIN, a_last_is, N * N, N, N, second, A, to);
}

void openblas(PARAMETERS)
{
    threads(1);
    #pragma omp parallel for
    for (int64_t e = 0; e < v_1; e++) {
        double r[N * N * N];
        apply(TRANSPOSED, PLAIN, A, u + e * N * N * N, r);
        for (int64_t x = 0; x < N * N * N; x++)
            r[x] /= D[e * N * N * N + x];
        apply(PLAIN, TRANSPOSED, A, r, v + e * N * N * N);
    }
}
