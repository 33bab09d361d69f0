/* The routines of one precision. */

/* The arguments of kernels by name. */
struct P_arguments {
    int64_t M, N, K, KL, KU, ldA, ldB, ldC, ldS, ldx, ldy;
    REAL alpha, beta, h11, h12, h21, h22;
    REAL *A, *B, *C, *S, *x, *y, *xr, *yr, *r;
    double *wide;
};

typedef void P_kernel(const struct P_arguments *);

/* The element with index 0 of a vector that is read backwards if its increment is negative. */
static REAL *P_first(const REAL *x, int64_t n, int64_t inc)
{
    return (REAL *)x + (inc < 0 ? (1 - n) * inc : 0);
}
