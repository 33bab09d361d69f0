//: gemv_{n,t} copy{,_inc}
void P_gemv_(const char *trans, const int *m, const int *n, const REAL *alpha, const REAL *a,
             const int *lda, const REAL *x, const int *incx, const REAL *beta, REAL *y,
             const int *incy)
{
    const int t = teml_transposed(trans);
    const int wrong =
        t < 0 ? 1 :
        *m < 0 ? 2 :
        *n < 0 ? 3 :
        *lda < teml_at_least_1(*m) ? 6 :
        *incx == 0 ? 8 :
        *incy == 0 ? 11 : 0;
    if (teml_is_wrong("PGEMV ", wrong))
        return;
    if (*m == 0 || *n == 0 || (*alpha == 0 && *beta == 1))
        return;
    const int64_t from = t ? *m : *n, to = t ? *n : *m;
    REAL *xs = P_adjacent(x, from, *incx), *ys = P_adjacent(y, to, *incy);
    struct P_arguments p = {.M = *m, .N = *n, .alpha = *alpha, .beta = *beta,
                            .A = (REAL *)a, .ldA = *lda, .x = xs, .y = ys};
    /* With an alpha of 0, the sum has no terms, and nothing is read. */
    if (*alpha == 0)
        *(t ? &p.M : &p.N) = 0;
    P_gemv_table[t](&p);
    P_read(xs, x);
    P_changed(ys, y, to, *incy);
}

void cblas_Pgemv(int order, int trans, int m, int n, REAL alpha, const REAL *a, int lda,
                 const REAL *x, int incx, REAL beta, REAL *y, int incy)
{
    static const char name[] = "cblas_Pgemv";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(trans, TEML_TRANS(trans, 2));
    if (RowMajorStrg)
        P_gemv_(&trans_, &n, &m, &alpha, a, &lda, x, &incx, &beta, y, &incy);
    else
        P_gemv_(&trans_, &m, &n, &alpha, a, &lda, x, &incx, &beta, y, &incy);
    teml_end();
}

//: gbmv_{n,t} copy{,_inc}
void P_gbmv_(const char *trans, const int *m, const int *n, const int *kl, const int *ku,
             const REAL *alpha, const REAL *a, const int *lda, const REAL *x, const int *incx,
             const REAL *beta, REAL *y, const int *incy)
{
    const int t = teml_transposed(trans);
    const int wrong =
        t < 0 ? 1 :
        *m < 0 ? 2 :
        *n < 0 ? 3 :
        *kl < 0 ? 4 :
        *ku < 0 ? 5 :
        *lda < *kl + *ku + 1 ? 8 :
        *incx == 0 ? 10 :
        *incy == 0 ? 13 : 0;
    if (teml_is_wrong("PGBMV ", wrong))
        return;
    if (*m == 0 || *n == 0 || (*alpha == 0 && *beta == 1))
        return;
    const int64_t from = t ? *m : *n, to = t ? *n : *m;
    REAL *xs = P_adjacent(x, from, *incx), *ys = P_adjacent(y, to, *incy);
    struct P_arguments p = {.M = *m, .N = *n, .KL = *kl, .KU = *ku, .alpha = *alpha, .beta = *beta,
                            .A = (REAL *)a, .ldA = *lda, .x = xs, .y = ys};
    /* With an alpha of 0, the sum has no terms, and nothing is read. */
    if (*alpha == 0)
        *(t ? &p.M : &p.N) = 0;
    P_gbmv_table[t](&p);
    P_read(xs, x);
    P_changed(ys, y, to, *incy);
}

void cblas_Pgbmv(int order, int trans, int m, int n, int kl, int ku, REAL alpha, const REAL *a,
                 int lda, const REAL *x, int incx, REAL beta, REAL *y, int incy)
{
    static const char name[] = "cblas_Pgbmv";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(trans, TEML_TRANS(trans, 2));
    if (RowMajorStrg)
        P_gbmv_(&trans_, &n, &m, &ku, &kl, &alpha, a, &lda, x, &incx, &beta, y, &incy);
    else
        P_gbmv_(&trans_, &m, &n, &kl, &ku, &alpha, a, &lda, x, &incx, &beta, y, &incy);
    teml_end();
}

//: gemv_{n,t} copy{,_inc}
/* y = beta y: a product with no columns. */
static void P_scaled(int64_t n, REAL beta, REAL *y)
{
    const struct P_arguments p = {.M = n, .beta = beta, .y = y};
    P_gemv_table[0](&p);
}

//: symv_{l,u} symv_both gemv_{n,t} copy{,_inc}
/* Triangles on the diagonal, and the rectangle beside each. */
static void P_symv_parts(int u, const struct P_arguments *p)
{
    REAL whole[TEML_FEW * TEML_FEW];
    for (int64_t j = 0; j < p->N; j += TEML_FEW) {
        const int64_t n = p->N - j < TEML_FEW ? p->N - j : TEML_FEW;
        const int64_t i = u ? 0 : j + n, m = u ? j : p->N - j - n;
        struct P_arguments q = {.N = n, .M = m, .alpha = p->alpha, .ldA = p->ldA, .S = whole,
                                .ldS = n, .A = p->A + j * p->ldA + j, .x = p->x + j,
                                .y = p->y + j, .xr = p->x + i, .yr = p->y + i};
        P_symv_table[u](&q);
        q.A = p->A + j * p->ldA + i;
        P_symv_both_table[0](&q);
    }
}

void P_symv_(const char *uplo, const int *n, const REAL *alpha, const REAL *a, const int *lda,
             const REAL *x, const int *incx, const REAL *beta, REAL *y, const int *incy)
{
    const int u = teml_letter("LU", uplo);
    const int wrong =
        u < 0 ? 1 :
        *n < 0 ? 2 :
        *lda < teml_at_least_1(*n) ? 5 :
        *incx == 0 ? 7 :
        *incy == 0 ? 10 : 0;
    if (teml_is_wrong("PSYMV ", wrong))
        return;
    if (*n == 0 || (*alpha == 0 && *beta == 1))
        return;
    REAL *xs = P_adjacent(x, *n, *incx), *ys = P_adjacent(y, *n, *incy);
    P_scaled(*n, *beta, ys);
    if (*alpha != 0) {
        const struct P_arguments p = {.N = *n, .alpha = *alpha, .A = (REAL *)a, .ldA = *lda,
                                      .x = xs, .y = ys};
        P_symv_parts(u, &p);
    }
    P_read(xs, x);
    P_changed(ys, y, *n, *incy);
}

void cblas_Psymv(int order, int uplo, int n, REAL alpha, const REAL *a, int lda, const REAL *x,
                 int incx, REAL beta, REAL *y, int incy)
{
    static const char name[] = "cblas_Psymv";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    P_symv_(&uplo_, &n, &alpha, a, &lda, x, &incx, &beta, y, &incy);
    teml_end();
}

//: sbmv_{l,u} gemv_{n,t} copy{,_inc}
void P_sbmv_(const char *uplo, const int *n, const int *k, const REAL *alpha, const REAL *a,
             const int *lda, const REAL *x, const int *incx, const REAL *beta, REAL *y,
             const int *incy)
{
    const int u = teml_letter("LU", uplo);
    const int wrong =
        u < 0 ? 1 :
        *n < 0 ? 2 :
        *k < 0 ? 3 :
        *lda < *k + 1 ? 6 :
        *incx == 0 ? 8 :
        *incy == 0 ? 11 : 0;
    if (teml_is_wrong("PSBMV ", wrong))
        return;
    if (*n == 0 || (*alpha == 0 && *beta == 1))
        return;
    REAL *xs = P_adjacent(x, *n, *incx), *ys = P_adjacent(y, *n, *incy);
    P_scaled(*n, *beta, ys);
    if (*alpha != 0) {
        const struct P_arguments p = {.N = *n, .K = *k, .alpha = *alpha, .A = (REAL *)a,
                                      .ldA = *lda, .x = xs, .y = ys};
        P_sbmv_table[u](&p);
    }
    P_read(xs, x);
    P_changed(ys, y, *n, *incy);
}

void cblas_Psbmv(int order, int uplo, int n, int k, REAL alpha, const REAL *a, int lda,
                 const REAL *x, int incx, REAL beta, REAL *y, int incy)
{
    static const char name[] = "cblas_Psbmv";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    P_sbmv_(&uplo_, &n, &k, &alpha, a, &lda, x, &incx, &beta, y, &incy);
    teml_end();
}

//: copy{,_inc}
/* A triangle that is packed column after column, as a matrix. */
static REAL *P_unpacked(int u, int n, const REAL *packed)
{
    REAL *full = teml_memory((int64_t)n * n, sizeof(REAL));
    for (int64_t j = 0; j < n; j++) {
        const int64_t count = u ? j + 1 : n - j;
        memcpy(full + j * n + (u ? 0 : j), packed, (size_t)count * sizeof(REAL));
        packed += count;
    }
    return full;
}

/* Packs a matrix that was unpacked, and ends its use. */
static void P_packed(int u, int n, REAL *full, REAL *packed)
{
    for (int64_t j = 0; j < n; j++) {
        const int64_t count = u ? j + 1 : n - j;
        memcpy(packed, full + j * n + (u ? 0 : j), (size_t)count * sizeof(REAL));
        packed += count;
    }
    free(full);
}

//: symv_{l,u} symv_both gemv_{n,t} copy{,_inc}
void P_spmv_(const char *uplo, const int *n, const REAL *alpha, const REAL *ap, const REAL *x,
             const int *incx, const REAL *beta, REAL *y, const int *incy)
{
    const int u = teml_letter("LU", uplo);
    const int wrong =
        u < 0 ? 1 :
        *n < 0 ? 2 :
        *incx == 0 ? 6 :
        *incy == 0 ? 9 : 0;
    if (teml_is_wrong("PSPMV ", wrong))
        return;
    if (*n == 0 || (*alpha == 0 && *beta == 1))
        return;
    REAL *a = P_unpacked(u, *n, ap);
    P_symv_(uplo, n, alpha, a, n, x, incx, beta, y, incy);
    free(a);
}

void cblas_Pspmv(int order, int uplo, int n, REAL alpha, const REAL *ap, const REAL *x, int incx,
                 REAL beta, REAL *y, int incy)
{
    static const char name[] = "cblas_Pspmv";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    P_spmv_(&uplo_, &n, &alpha, ap, x, &incx, &beta, y, &incy);
    teml_end();
}

//: ger copy{,_inc}
void P_ger_(const int *m, const int *n, const REAL *alpha, const REAL *x, const int *incx,
            const REAL *y, const int *incy, REAL *a, const int *lda)
{
    const int wrong =
        *m < 0 ? 1 :
        *n < 0 ? 2 :
        *incx == 0 ? 5 :
        *incy == 0 ? 7 :
        *lda < teml_at_least_1(*m) ? 9 : 0;
    if (teml_is_wrong("PGER  ", wrong))
        return;
    if (*m == 0 || *n == 0 || *alpha == 0)
        return;
    REAL *xs = P_adjacent(x, *m, *incx), *ys = P_adjacent(y, *n, *incy);
    const struct P_arguments p = {.M = *m, .N = *n, .alpha = *alpha, .A = a, .ldA = *lda,
                                  .x = xs, .y = ys};
    P_ger_table[0](&p);
    P_read(xs, x);
    P_read(ys, y);
}

void cblas_Pger(int order, int m, int n, REAL alpha, const REAL *x, int incx, const REAL *y,
                int incy, REAL *a, int lda)
{
    static const char name[] = "cblas_Pger";
    if (!teml_begin(order, name))
        return;
    if (RowMajorStrg)
        P_ger_(&n, &m, &alpha, y, &incy, x, &incx, a, &lda);
    else
        P_ger_(&m, &n, &alpha, x, &incx, y, &incy, a, &lda);
    teml_end();
}

//: syr_{l,u} copy{,_inc}
void P_syr_(const char *uplo, const int *n, const REAL *alpha, const REAL *x, const int *incx,
            REAL *a, const int *lda)
{
    const int u = teml_letter("LU", uplo);
    const int wrong =
        u < 0 ? 1 :
        *n < 0 ? 2 :
        *incx == 0 ? 5 :
        *lda < teml_at_least_1(*n) ? 7 : 0;
    if (teml_is_wrong("PSYR  ", wrong))
        return;
    if (*n == 0 || *alpha == 0)
        return;
    REAL *xs = P_adjacent(x, *n, *incx);
    const struct P_arguments p = {.N = *n, .alpha = *alpha, .A = a, .ldA = *lda, .x = xs};
    P_syr_table[u](&p);
    P_read(xs, x);
}

void cblas_Psyr(int order, int uplo, int n, REAL alpha, const REAL *x, int incx, REAL *a, int lda)
{
    static const char name[] = "cblas_Psyr";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    P_syr_(&uplo_, &n, &alpha, x, &incx, a, &lda);
    teml_end();
}

void P_spr_(const char *uplo, const int *n, const REAL *alpha, const REAL *x, const int *incx,
            REAL *ap)
{
    const int u = teml_letter("LU", uplo);
    const int wrong =
        u < 0 ? 1 :
        *n < 0 ? 2 :
        *incx == 0 ? 5 : 0;
    if (teml_is_wrong("PSPR  ", wrong))
        return;
    if (*n == 0 || *alpha == 0)
        return;
    REAL *a = P_unpacked(u, *n, ap);
    P_syr_(uplo, n, alpha, x, incx, a, n);
    P_packed(u, *n, a, ap);
}

void cblas_Pspr(int order, int uplo, int n, REAL alpha, const REAL *x, int incx, REAL *ap)
{
    static const char name[] = "cblas_Pspr";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    P_spr_(&uplo_, &n, &alpha, x, &incx, ap);
    teml_end();
}

//: syr2_{l,u} copy{,_inc}
void P_syr2_(const char *uplo, const int *n, const REAL *alpha, const REAL *x, const int *incx,
             const REAL *y, const int *incy, REAL *a, const int *lda)
{
    const int u = teml_letter("LU", uplo);
    const int wrong =
        u < 0 ? 1 :
        *n < 0 ? 2 :
        *incx == 0 ? 5 :
        *incy == 0 ? 7 :
        *lda < teml_at_least_1(*n) ? 9 : 0;
    if (teml_is_wrong("PSYR2 ", wrong))
        return;
    if (*n == 0 || *alpha == 0)
        return;
    REAL *xs = P_adjacent(x, *n, *incx);
    REAL *ys = P_adjacent(y, *n, *incy);
    const struct P_arguments p = {.N = *n, .alpha = *alpha, .A = a, .ldA = *lda, .x = xs, .y = ys};
    P_syr2_table[u](&p);
    P_read(xs, x);
    P_read(ys, y);
}

void cblas_Psyr2(int order, int uplo, int n, REAL alpha, const REAL *x, int incx, const REAL *y,
                 int incy, REAL *a, int lda)
{
    static const char name[] = "cblas_Psyr2";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    P_syr2_(&uplo_, &n, &alpha, x, &incx, y, &incy, a, &lda);
    teml_end();
}

void P_spr2_(const char *uplo, const int *n, const REAL *alpha, const REAL *x, const int *incx,
             const REAL *y, const int *incy, REAL *ap)
{
    const int u = teml_letter("LU", uplo);
    const int wrong =
        u < 0 ? 1 :
        *n < 0 ? 2 :
        *incx == 0 ? 5 :
        *incy == 0 ? 7 : 0;
    if (teml_is_wrong("PSPR2 ", wrong))
        return;
    if (*n == 0 || *alpha == 0)
        return;
    REAL *a = P_unpacked(u, *n, ap);
    P_syr2_(uplo, n, alpha, x, incx, y, incy, a, n);
    P_packed(u, *n, a, ap);
}

void cblas_Pspr2(int order, int uplo, int n, REAL alpha, const REAL *x, int incx, const REAL *y,
                 int incy, REAL *ap)
{
    static const char name[] = "cblas_Pspr2";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    P_spr2_(&uplo_, &n, &alpha, x, &incx, y, &incy, ap);
    teml_end();
}

//: trmv_{l,u}{n,t}{n,u} trsv_{l,u}{n,t}{n,u} gemv_{n,t} copy{,_inc}
/* Triangles on the diagonal, and a product with the rectangle beside each. The rectangle comes first
 * if the triangle waits for it. */
static void P_triangles(P_kernel *const *table, int solves, int u, int t, int d,
                        const struct P_arguments *p)
{
    const int64_t last = (p->N - 1) / TEML_SMALL * TEML_SMALL;
    const int is_forward = (u == 0) == (solves != t);
    for (int64_t part = 0; part <= last; part += TEML_SMALL) {
        const int64_t j = is_forward ? part : last - part;
        const int64_t n = p->N - j < TEML_SMALL ? p->N - j : TEML_SMALL;
        const int64_t i = u ? 0 : j + n, m = u ? j : p->N - j - n;
        const struct P_arguments triangle = {.N = n, .A = p->A + j * (p->ldA + 1), .ldA = p->ldA,
                                             .x = p->x + j};
        const struct P_arguments rectangle = {
            .M = m, .N = n, .alpha = solves ? -1 : 1, .beta = 1, .A = p->A + j * p->ldA + i,
            .ldA = p->ldA, .x = p->x + (t ? i : j), .y = p->x + (t ? j : i)};
        if (solves != t)
            table[4 * u + 2 * t + d](&triangle);
        if (m > 0)
            P_gemv_table[t](&rectangle);
        if (solves == t)
            table[4 * u + 2 * t + d](&triangle);
    }
}

//: @mv,sv trmv_{l,u}{n,t}{n,u} trsv_{l,u}{n,t}{n,u} gemv_{n,t} copy{,_inc}
void P_tr@_(const char *uplo, const char *trans, const char *diag, const int *n, const REAL *a,
             const int *lda, REAL *x, const int *incx)
{
    const int u = teml_letter("LU", uplo);
    const int t = teml_transposed(trans);
    const int d = teml_letter("NU", diag);
    const int wrong =
        u < 0 ? 1 :
        t < 0 ? 2 :
        d < 0 ? 3 :
        *n < 0 ? 4 :
        *lda < teml_at_least_1(*n) ? 6 :
        *incx == 0 ? 8 : 0;
    if (teml_is_wrong("PTR@@ ", wrong))
        return;
    if (*n == 0)
        return;
    REAL *xs = P_adjacent(x, *n, *incx);
    const struct P_arguments p = {.N = *n, .A = (REAL *)a, .ldA = *lda, .x = xs};
    P_triangles(P_tr@_table, P_tr@_table == P_trsv_table, u, t, d, &p);
    P_changed(xs, x, *n, *incx);
}

void cblas_Ptr@(int order, int uplo, int trans, int diag, int n, const REAL *a, int lda, REAL *x,
                 int incx)
{
    static const char name[] = "cblas_Ptr@";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    TEML_TAKE(trans, TEML_TRANS(trans, 3));
    TEML_TAKE(diag, TEML_DIAG(diag, 4));
    P_tr@_(&uplo_, &trans_, &diag_, &n, a, &lda, x, &incx);
    teml_end();
}

void P_tp@_(const char *uplo, const char *trans, const char *diag, const int *n, const REAL *ap,
             REAL *x, const int *incx)
{
    const int u = teml_letter("LU", uplo);
    const int t = teml_transposed(trans);
    const int d = teml_letter("NU", diag);
    const int wrong =
        u < 0 ? 1 :
        t < 0 ? 2 :
        d < 0 ? 3 :
        *n < 0 ? 4 :
        *incx == 0 ? 7 : 0;
    if (teml_is_wrong("PTP@@ ", wrong))
        return;
    if (*n == 0)
        return;
    REAL *a = P_unpacked(u, *n, ap);
    P_tr@_(uplo, trans, diag, n, a, n, x, incx);
    free(a);
}

void cblas_Ptp@(int order, int uplo, int trans, int diag, int n, const REAL *ap, REAL *x, int incx)
{
    static const char name[] = "cblas_Ptp@";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    TEML_TAKE(trans, TEML_TRANS(trans, 3));
    TEML_TAKE(diag, TEML_DIAG(diag, 4));
    P_tp@_(&uplo_, &trans_, &diag_, &n, ap, x, &incx);
    teml_end();
}

//: @mv,sv tb@_{l,u}{n,t}{n,u} copy{,_inc}
void P_tb@_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k,
             const REAL *a, const int *lda, REAL *x, const int *incx)
{
    const int u = teml_letter("LU", uplo);
    const int t = teml_transposed(trans);
    const int d = teml_letter("NU", diag);
    const int wrong =
        u < 0 ? 1 :
        t < 0 ? 2 :
        d < 0 ? 3 :
        *n < 0 ? 4 :
        *k < 0 ? 5 :
        *lda < *k + 1 ? 7 :
        *incx == 0 ? 9 : 0;
    if (teml_is_wrong("PTB@@ ", wrong))
        return;
    if (*n == 0)
        return;
    REAL *xs = P_adjacent(x, *n, *incx);
    const struct P_arguments p = {.N = *n, .K = *k, .A = (REAL *)a, .ldA = *lda, .x = xs};
    P_tb@_table[4 * u + 2 * t + d](&p);
    P_changed(xs, x, *n, *incx);
}

void cblas_Ptb@(int order, int uplo, int trans, int diag, int n, int k, const REAL *a, int lda,
                 REAL *x, int incx)
{
    static const char name[] = "cblas_Ptb@";
    if (!teml_begin(order, name))
        return;
    TEML_TAKE(uplo, TEML_UPLO(uplo, 2));
    TEML_TAKE(trans, TEML_TRANS(trans, 3));
    TEML_TAKE(diag, TEML_DIAG(diag, 4));
    P_tb@_(&uplo_, &trans_, &diag_, &n, &k, a, &lda, x, &incx);
    teml_end();
}
