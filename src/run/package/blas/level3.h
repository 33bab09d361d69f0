//: gemm_{n,t}{n,t} multiple
/* C = alpha op(A) op(B) + beta C; a copy of the smaller operand takes the factor. */
static void P_product(int ta, int tb, const struct P_arguments *p)
{
    P_kernel *const product = P_gemm_table[2 * ta + tb];
    struct P_arguments q = *p;
    if (p->alpha == 0)
        q.K = 0;
    if (q.K == 0 || p->alpha == 1) {
        product(&q);
        return;
    }
    const int of_a = p->M <= p->N;
    const int64_t rows = of_a ? (ta ? p->K : p->M) : (tb ? p->N : p->K);
    const int64_t columns = of_a ? (ta ? p->M : p->K) : (tb ? p->K : p->N);
    REAL few[1024], *copy = rows * columns > 1024 ? teml_memory(rows * columns, sizeof(REAL)) : few;
    const struct P_arguments multiple = {.M = rows, .N = columns, .alpha = p->alpha, .S = copy,
                                         .A = of_a ? p->A : p->B, .ldA = of_a ? p->ldA : p->ldB};
    P_multiple_table[0](&multiple);
    *(of_a ? &q.A : &q.B) = copy;
    *(of_a ? &q.ldA : &q.ldB) = rows;
    product(&q);
    if (copy != few)
        free(copy);
}

void P_gemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
             const REAL *alpha, const REAL *a, const int *lda, const REAL *b, const int *ldb,
             const REAL *beta, REAL *c, const int *ldc)
{
    const int ta = teml_transposed(transa), tb = teml_transposed(transb);
    const int wrong =
        ta < 0 ? 1 :
        tb < 0 ? 2 :
        *m < 0 ? 3 :
        *n < 0 ? 4 :
        *k < 0 ? 5 :
        *lda < teml_at_least_1(ta ? *k : *m) ? 8 :
        *ldb < teml_at_least_1(tb ? *n : *k) ? 10 :
        *ldc < teml_at_least_1(*m) ? 13 : 0;
    if (teml_is_wrong("PGEMM ", wrong))
        return;
    if (*m == 0 || *n == 0 || ((*alpha == 0 || *k == 0) && *beta == 1))
        return;
    const struct P_arguments p = {.M = *m, .N = *n, .K = *k, .alpha = *alpha, .beta = *beta,
                                  .A = (REAL *)a, .ldA = *lda, .B = (REAL *)b, .ldB = *ldb,
                                  .C = c, .ldC = *ldc};
    P_product(ta, tb, &p);
}

void cblas_Pgemm(int order, int transa, int transb, int m, int n, int k, REAL alpha, const REAL *a,
                 int lda, const REAL *b, int ldb, REAL beta, REAL *c, int ldc)
{
    static const char name[] = "cblas_Pgemm";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(transa, teml_enumerated(transa, NoTrans, "NTC", 0, 2, name, "Trans"));
    TEML_TAKE(transb, teml_enumerated(transb, NoTrans, "NTC", 0, 3, name, "Trans"));
    if (RowMajorStrg)
        P_gemm_(&transb_, &transa_, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc);
    else
        P_gemm_(&transa_, &transb_, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
    teml_end();
}

//: symm_{l,r}{l,u} gemm_{n,t}{n,t} multiple
void P_symm_(const char *side, const char *uplo, const int *m, const int *n, const REAL *alpha,
             const REAL *a, const int *lda, const REAL *b, const int *ldb, const REAL *beta,
             REAL *c, const int *ldc)
{
    const int s = teml_letter("LR", side);
    const int u = teml_letter("LU", uplo);
    const int wrong =
        s < 0 ? 1 :
        u < 0 ? 2 :
        *m < 0 ? 3 :
        *n < 0 ? 4 :
        *lda < teml_at_least_1(s ? *n : *m) ? 7 :
        *ldb < teml_at_least_1(*m) ? 9 :
        *ldc < teml_at_least_1(*m) ? 12 : 0;
    if (teml_is_wrong("PSYMM ", wrong))
        return;
    if (*m == 0 || *n == 0 || (*alpha == 0 && *beta == 1))
        return;
    const int64_t k = s ? *n : *m;
    struct P_arguments p = {.M = *m, .N = *n, .alpha = *alpha, .beta = *beta, .A = (REAL *)a,
                            .ldA = *lda, .B = (REAL *)b, .ldB = *ldb, .C = c, .ldC = *ldc,
                            .ldS = k};
    if (*alpha == 0) {
        P_gemm_table[0](&p);
        return;
    }
    p.S = teml_memory(k * k, sizeof(REAL));
    P_symm_table[2 * s + u](&p);
    free(p.S);
}

void cblas_Psymm(int order, int side, int uplo, int m, int n, REAL alpha, const REAL *a, int lda,
                 const REAL *b, int ldb, REAL beta, REAL *c, int ldc)
{
    static const char name[] = "cblas_Psymm";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(side, TEML_SIDE(side, 2));
    TEML_TAKE(uplo, TEML_UPLO(uplo, 3));
    if (RowMajorStrg)
        P_symm_(&side_, &uplo_, &n, &m, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
    else
        P_symm_(&side_, &uplo_, &m, &n, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
    teml_end();
}

//: syrk_{l,u} syr2k_{l,u} gemm_{n,t}{n,t} multiple
/* A triangle of C in halves: two triangles, and a square beside them. Small triangles take the whole
 * product; `pairs` adds its transpose. */
static void P_symmetric(P_kernel *const *table, int pairs, int u, int t,
                        const struct P_arguments *p)
{
    if (p->N <= TEML_WHOLE) {
        REAL whole[TEML_WHOLE * TEML_WHOLE];
        struct P_arguments product = *p, triangle = *p;
        product.M = p->N;
        product.alpha = 1;
        product.beta = 0;
        product.C = triangle.S = whole;
        product.ldC = triangle.ldS = p->N;
        P_product(t, !t, &product);
        table[u](&triangle);
        return;
    }
    struct P_arguments first = *p, second = *p, square = *p;
    const int64_t half = (p->N / 2 + 7) / 8 * 8;
    first.N = half;
    second.N -= half;
    second.A += t ? half * p->ldA : half;
    second.B += t ? half * p->ldB : half;
    second.C += half * (p->ldC + 1);
    P_symmetric(table, pairs, u, t, &first);
    P_symmetric(table, pairs, u, t, &second);
    const struct P_arguments *rows = u ? &first : &second, *columns = u ? &second : &first;
    square.M = rows->N;
    square.N = columns->N;
    square.C += u ? half * p->ldC : half;
    square.A = rows->A;
    square.B = columns->B;
    P_product(t, !t, &square);
    if (pairs) {
        square.A = rows->B;
        square.ldA = p->ldB;
        square.B = columns->A;
        square.ldB = p->ldA;
        square.beta = 1;
        P_product(t, !t, &square);
    }
}

//: syrk_{l,u} syr2k_{l,u} gemm_{n,t}{n,t} multiple
void P_syrk_(const char *uplo, const char *trans, const int *n, const int *k, const REAL *alpha,
             const REAL *a, const int *lda, const REAL *beta, REAL *c, const int *ldc)
{
    const int u = teml_letter("LU", uplo);
    const int t = teml_transposed(trans);
    const int wrong =
        u < 0 ? 1 :
        t < 0 ? 2 :
        *n < 0 ? 3 :
        *k < 0 ? 4 :
        *lda < teml_at_least_1(t ? *k : *n) ? 7 :
        *ldc < teml_at_least_1(*n) ? 10 : 0;
    if (teml_is_wrong("PSYRK ", wrong))
        return;
    if (*n == 0 || ((*alpha == 0 || *k == 0) && *beta == 1))
        return;
    const struct P_arguments p = {.N = *n, .K = *alpha == 0 ? 0 : *k, .alpha = *alpha,
                                  .beta = *beta, .A = (REAL *)a, .ldA = *lda,
                                  .B = (REAL *)a, .ldB = *lda, .C = c, .ldC = *ldc};
    P_symmetric(P_syrk_table, 0, u, t, &p);
}

void cblas_Psyrk(int order, int uplo, int trans, int n, int k, REAL alpha, const REAL *a, int lda,
                 REAL beta, REAL *c, int ldc)
{
    static const char name[] = "cblas_Psyrk";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    TEML_TAKE(trans, TEML_TRANS(trans, 3));
    P_syrk_(&uplo_, &trans_, &n, &k, &alpha, a, &lda, &beta, c, &ldc);
    teml_end();
}

//: syrk_{l,u} syr2k_{l,u} gemm_{n,t}{n,t} multiple
void P_syr2k_(const char *uplo, const char *trans, const int *n, const int *k, const REAL *alpha,
              const REAL *a, const int *lda, const REAL *b, const int *ldb, const REAL *beta,
              REAL *c, const int *ldc)
{
    const int u = teml_letter("LU", uplo);
    const int t = teml_transposed(trans);
    const int wrong =
        u < 0 ? 1 :
        t < 0 ? 2 :
        *n < 0 ? 3 :
        *k < 0 ? 4 :
        *lda < teml_at_least_1(t ? *k : *n) ? 7 :
        *ldb < teml_at_least_1(t ? *k : *n) ? 9 :
        *ldc < teml_at_least_1(*n) ? 12 : 0;
    if (teml_is_wrong("PSYR2K", wrong))
        return;
    if (*n == 0 || ((*alpha == 0 || *k == 0) && *beta == 1))
        return;
    const struct P_arguments p = {.N = *n, .K = *alpha == 0 ? 0 : *k, .alpha = *alpha,
                                  .beta = *beta, .A = (REAL *)a, .ldA = *lda, .C = c,
                                  .ldC = *ldc, .B = (REAL *)b, .ldB = *ldb};
    P_symmetric(P_syr2k_table, 1, u, t, &p);
}

void cblas_Psyr2k(int order, int uplo, int trans, int n, int k, REAL alpha, const REAL *a, int lda,
                  const REAL *b, int ldb, REAL beta, REAL *c, int ldc)
{
    static const char name[] = "cblas_Psyr2k";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    TEML_TAKE(trans, TEML_TRANS(trans, 3));
    P_syr2k_(&uplo_, &trans_, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
    teml_end();
}

//: trmm_{l,r}{l,u}{n,t}{n,u} trsm_{l,r}{l,u}{n,t}{n,u} gemm_{n,t}{n,t} multiple transposed
/* B between a triangle on the left and one on the right: its transpose, whose columns are long. */
static void P_turned(P_kernel *from_right, const struct P_arguments *p)
{
    REAL few[TEML_SMALL * TEML_SMALL];
    REAL *copy = p->N > TEML_SMALL ? teml_memory(p->M * p->N, sizeof(REAL)) : few;
    struct P_arguments there = {.M = p->M, .N = p->N, .A = p->B, .ldA = p->ldB, .B = copy,
                                .ldB = p->N};
    struct P_arguments back = {.M = p->N, .N = p->M, .A = copy, .ldA = p->N, .B = p->B,
                               .ldB = p->ldB};
    struct P_arguments turned = *p;
    turned.M = p->N;
    turned.N = p->M;
    turned.B = copy;
    turned.ldB = p->N;
    P_transposed_table[0](&there);
    from_right(&turned);
    P_transposed_table[0](&back);
    if (copy != few)
        free(copy);
}

/* B times a triangle, or the solution for it: in halves, and with a product with the square between
 * them. */
static void P_in_halves(P_kernel *const *table, int solves, int s, int u, int t, int d,
                        const struct P_arguments *p)
{
    const int64_t size = s ? p->N : p->M;
    if (size <= TEML_SMALL) {
        if (s == 0 && p->N >= 8)
            P_turned(table[8 + 4 * u + 2 * !t + d], p);
        else
            table[8 * s + 4 * u + 2 * t + d](p);
        return;
    }
    const int64_t half = (size / 2 + 7) / 8 * 8;
    struct P_arguments first = *p, second = *p;
    *(s ? &first.N : &first.M) = half;
    *(s ? &second.N : &second.M) -= half;
    second.A += half * (p->ldA + 1);
    second.B += s ? half * p->ldB : half;
    REAL *square = p->A + (u ? half * p->ldA : half);
    /* Whether the square takes the first half of B to the second one. */
    const int is_forward = ((u == 0) == (t == 0)) == (s == 0);
    struct P_arguments *from = is_forward ? &first : &second, *to = is_forward ? &second : &first;
    const struct P_arguments product = {
        .M = to->M, .N = to->N, .K = s ? from->N : from->M,
        .alpha = solves ? -1 : p->alpha, .beta = solves ? p->alpha : 1,
        .A = s ? from->B : square, .ldA = s ? p->ldB : p->ldA,
        .B = s ? square : from->B, .ldB = s ? p->ldA : p->ldB, .C = to->B, .ldC = p->ldB};
    P_in_halves(table, solves, s, u, t, d, solves ? from : to);
    P_product(s ? 0 : t, s ? t : 0, &product);
    if (solves)
        to->alpha = 1;
    P_in_halves(table, solves, s, u, t, d, solves ? to : from);
}

//: @mm,sm trmm_{l,r}{l,u}{n,t}{n,u} trsm_{l,r}{l,u}{n,t}{n,u} gemm_{n,t}{n,t} multiple transposed
void P_tr@_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m,
             const int *n, const REAL *alpha, const REAL *a, const int *lda, REAL *b,
             const int *ldb)
{
    const int s = teml_letter("LR", side);
    const int u = teml_letter("LU", uplo);
    const int t = teml_transposed(transa);
    const int d = teml_letter("NU", diag);
    const int wrong =
        s < 0 ? 1 :
        u < 0 ? 2 :
        t < 0 ? 3 :
        d < 0 ? 4 :
        *m < 0 ? 5 :
        *n < 0 ? 6 :
        *lda < teml_at_least_1(s ? *n : *m) ? 9 :
        *ldb < teml_at_least_1(*m) ? 11 : 0;
    if (teml_is_wrong("PTR@@ ", wrong))
        return;
    if (*m == 0 || *n == 0)
        return;
    const struct P_arguments p = {.M = *m, .N = *n, .alpha = *alpha, .A = (REAL *)a, .ldA = *lda,
                                  .B = b, .ldB = *ldb};
    if (*alpha == 0) {
        const struct P_arguments zero = {.M = *m, .N = *n, .C = b, .ldC = *ldb};
        P_gemm_table[0](&zero);
        return;
    }
    P_in_halves(P_tr@_table, P_tr@_table == P_trsm_table, s, u, t, d, &p);
}

void cblas_Ptr@(int order, int side, int uplo, int transa, int diag, int m, int n, REAL alpha,
                 const REAL *a, int lda, REAL *b, int ldb)
{
    static const char name[] = "cblas_Ptr@";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(side, TEML_SIDE(side, 2));
    TEML_TAKE(uplo, TEML_UPLO(uplo, 3));
    TEML_TAKE(transa, teml_enumerated(transa, NoTrans, "NTC", 0, 4, name, "Trans"));
    TEML_TAKE(diag, TEML_DIAG(diag, 5));
    if (RowMajorStrg)
        P_tr@_(&side_, &uplo_, &transa_, &diag_, &n, &m, &alpha, a, &lda, b, &ldb);
    else
        P_tr@_(&side_, &uplo_, &transa_, &diag_, &m, &n, &alpha, a, &lda, b, &ldb);
    teml_end();
}
