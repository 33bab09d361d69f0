// What the kernels here call. BLAS(name) is how the library names a function, BLAS_INT what it
// takes extents as.
#include <omp.h>
#include <stdint.h>

enum { ROWS = 101, PLAIN = 111, TRANSPOSED = 112 };

void BLAS(cblas_dgemm)(int order, int a_is, int b_is, BLAS_INT m, BLAS_INT n, BLAS_INT k,
                       double alpha, const double *a, BLAS_INT lda, const double *b, BLAS_INT ldb,
                       double beta, double *c, BLAS_INT ldc);
void BLAS(openblas_set_num_threads)(int count);

// How many threads a product gets from now on.
static inline void threads(int count)
{
    BLAS(openblas_set_num_threads)(count);
}

// c = a * b, with m rows, n columns and sums of k products; a and b as they are, or transposed.
static inline void gemm(int a_is, int b_is, BLAS_INT m, BLAS_INT n, BLAS_INT k,
                        const double *a, const double *b, double *c)
{
    BLAS_INT lda = a_is == PLAIN ? k : m, ldb = b_is == PLAIN ? n : k;
    BLAS(cblas_dgemm)(ROWS, a_is, b_is, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, n);
}

