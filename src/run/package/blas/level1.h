//: copy{,_inc}
void P_copy_(const int *n, const REAL *x, const int *incx, REAL *y, const int *incy)
{
    if (*n <= 0)
        return;
    const struct P_arguments a = {.N = *n, .x = P_first(x, *n, *incx), .ldx = *incx,
                                  .y = P_first(y, *n, *incy), .ldy = *incy};
    P_copy_table[*incx != 1 || *incy != 1](&a);
}

void cblas_Pcopy(int n, const REAL *x, int incx, REAL *y, int incy)
{
    P_copy_(&n, x, &incx, y, &incy);
}

/* A vector whose elements are adjacent: the given one, or a copy. */
static REAL *P_adjacent(const REAL *x, int64_t n, int inc)
{
    if (inc == 1)
        return (REAL *)x;
    REAL *copy = teml_memory(n, sizeof(REAL));
    const struct P_arguments a = {.N = n, .x = P_first(x, n, inc), .ldx = inc, .y = copy, .ldy = 1};
    P_copy_table[1](&a);
    return copy;
}

/* Ends the use of a copy that was read. */
static void P_read(REAL *copy, const REAL *x)
{
    if (copy != x)
        free(copy);
}

/* Ends the use of a copy that was changed. */
static void P_changed(REAL *copy, REAL *x, int64_t n, int inc)
{
    if (copy == x)
        return;
    const struct P_arguments a = {.N = n, .x = copy, .ldx = 1, .y = P_first(x, n, inc), .ldy = inc};
    P_copy_table[1](&a);
    free(copy);
}

//: swap{,_inc}
void P_swap_(const int *n, REAL *x, const int *incx, REAL *y, const int *incy)
{
    if (*n <= 0)
        return;
    const struct P_arguments a = {.N = *n, .x = P_first(x, *n, *incx), .ldx = *incx,
                                  .y = P_first(y, *n, *incy), .ldy = *incy};
    P_swap_table[*incx != 1 || *incy != 1](&a);
}

void cblas_Pswap(int n, REAL *x, int incx, REAL *y, int incy)
{
    P_swap_(&n, x, &incx, y, &incy);
}

//: scal{,_inc}
void P_scal_(const int *n, const REAL *alpha, REAL *x, const int *incx)
{
    if (*n <= 0 || *incx <= 0)
        return;
    const struct P_arguments a = {.N = *n, .alpha = *alpha, .x = x, .ldx = *incx};
    P_scal_table[*incx != 1](&a);
}

void cblas_Pscal(int n, REAL alpha, REAL *x, int incx)
{
    P_scal_(&n, &alpha, x, &incx);
}

//: axpy{,_inc}
void P_axpy_(const int *n, const REAL *alpha, const REAL *x, const int *incx, REAL *y,
             const int *incy)
{
    if (*n <= 0 || *alpha == 0)
        return;
    const struct P_arguments a = {.N = *n, .alpha = *alpha, .x = P_first(x, *n, *incx),
                                  .ldx = *incx, .y = P_first(y, *n, *incy), .ldy = *incy};
    P_axpy_table[*incx != 1 || *incy != 1](&a);
}

void cblas_Paxpy(int n, REAL alpha, const REAL *x, int incx, REAL *y, int incy)
{
    P_axpy_(&n, &alpha, x, &incx, y, &incy);
}

//: dot{,_inc}
REAL P_dot_(const int *n, const REAL *x, const int *incx, const REAL *y, const int *incy)
{
    REAL r = 0;
    if (*n <= 0)
        return r;
    const struct P_arguments a = {.N = *n, .x = P_first(x, *n, *incx), .ldx = *incx,
                                  .y = P_first(y, *n, *incy), .ldy = *incy, .r = &r};
    P_dot_table[*incx != 1 || *incy != 1](&a);
    return r;
}

REAL cblas_Pdot(int n, const REAL *x, int incx, const REAL *y, int incy)
{
    return P_dot_(&n, x, &incx, y, &incy);
}

//: wide_dot{,_inc}
double dsdot_(const int *n, const REAL *x, const int *incx, const REAL *y, const int *incy)
{
    double r = 0;
    if (*n <= 0)
        return r;
    const struct P_arguments a = {.N = *n, .x = P_first(x, *n, *incx), .ldx = *incx,
                                  .y = P_first(y, *n, *incy), .ldy = *incy, .wide = &r};
    P_wide_dot_table[*incx != 1 || *incy != 1](&a);
    return r;
}

double cblas_dsdot(int n, const REAL *x, int incx, const REAL *y, int incy)
{
    return dsdot_(&n, x, &incx, y, &incy);
}

REAL sdsdot_(const int *n, const REAL *b, const REAL *x, const int *incx, const REAL *y,
             const int *incy)
{
    return (REAL)(*b + dsdot_(n, x, incx, y, incy));
}

REAL cblas_sdsdot(int n, REAL b, const REAL *x, int incx, const REAL *y, int incy)
{
    return sdsdot_(&n, &b, x, &incx, y, &incy);
}

//: asum{,_inc}
REAL P_asum_(const int *n, const REAL *x, const int *incx)
{
    REAL r = 0;
    if (*n <= 0 || *incx <= 0)
        return r;
    const struct P_arguments a = {.N = *n, .x = (REAL *)x, .ldx = *incx, .r = &r};
    P_asum_table[*incx != 1](&a);
    return r;
}

REAL cblas_Pasum(int n, const REAL *x, int incx)
{
    return P_asum_(&n, x, &incx);
}

/* Of complex numbers: the sums of their real and of their imaginary parts. */
REAL PZ_asum_(const int *n, const REAL *x, const int *incx)
{
    const int inc = 2 * *incx;
    return P_asum_(n, x, &inc) + P_asum_(n, x + 1, &inc);
}

REAL cblas_PZasum(int n, const void *x, int incx)
{
    return PZ_asum_(&n, x, &incx);
}

//: squares{,_inc} greatest{,_inc} quotients{,_inc}
REAL P_nrm2_(const int *n, const REAL *x, const int *incx)
{
    if (*n <= 0)
        return 0;
    REAL r = 0;
    double sum = 0;
    struct P_arguments a = {.N = *n, .x = P_first(x, *n, *incx), .ldx = *incx, .r = &r,
                            .wide = &sum};
    P_squares_table[*incx != 1](&a);
    if (isnan(sum) || (sum > 1e-280 && sum < 1e280))
        return (REAL)sqrt(sum);
    P_greatest_table[*incx != 1](&a);
    if (r == 0 || isinf(r))
        return r;
    const REAL greatest = a.alpha = r;
    P_quotients_table[*incx != 1](&a);
    return greatest * (REAL)sqrt((double)r);
}

REAL cblas_Pnrm2(int n, const REAL *x, int incx)
{
    return P_nrm2_(&n, x, &incx);
}

REAL PZ_nrm2_(const int *n, const REAL *x, const int *incx)
{
    const int inc = 2 * *incx;
    return (REAL)hypot((double)P_nrm2_(n, x, &inc), (double)P_nrm2_(n, x + 1, &inc));
}

REAL cblas_PZnrm2(int n, const void *x, int incx)
{
    return PZ_nrm2_(&n, x, &incx);
}

//: place{,_inc} greatest{,_inc}
int iP_amax_(const int *n, const REAL *x, const int *incx)
{
    if (*n <= 0 || *incx <= 0)
        return 0;
    REAL r = 0, most = -1;
    double place = 0;
    struct P_arguments a = {.ldx = *incx, .r = &r, .wide = &place}, first = a;
    /* Each part is read once from memory, and the first with the greatest magnitude again. */
    for (int64_t i = 0; i < *n; i += TEML_PART) {
        a.N = *n - i < TEML_PART ? *n - i : TEML_PART;
        a.x = (REAL *)x + i * *incx;
        P_greatest_table[*incx != 1](&a);
        if (r > most) {
            most = r;
            first = a;
        }
    }
    first.alpha = most;
    P_place_table[*incx != 1](&first);
    return place < first.N ? (int)(place + (first.x - x) / *incx) + 1 : 1;
}

size_t cblas_iPamax(int n, const REAL *x, int incx)
{
    const int place = iP_amax_(&n, x, &incx);
    return place ? (size_t)place - 1 : 0;
}

//: rot{,_inc}
void P_rot_(const int *n, REAL *x, const int *incx, REAL *y, const int *incy, const REAL *c,
            const REAL *s)
{
    if (*n <= 0)
        return;
    const struct P_arguments a = {.N = *n, .x = P_first(x, *n, *incx), .ldx = *incx,
                                  .y = P_first(y, *n, *incy), .ldy = *incy,
                                  .h11 = *c, .h12 = *s, .h21 = -*s, .h22 = *c};
    P_rot_table[*incx != 1 || *incy != 1](&a);
}

void cblas_Prot(int n, REAL *x, int incx, REAL *y, int incy, REAL c, REAL s)
{
    P_rot_(&n, x, &incx, y, &incy, &c, &s);
}

void P_rotm_(const int *n, REAL *x, const int *incx, REAL *y, const int *incy, const REAL *h)
{
    if (*n <= 0 || h[0] == -2)
        return;
    const struct P_arguments a = {.N = *n, .x = P_first(x, *n, *incx), .ldx = *incx,
                                  .y = P_first(y, *n, *incy), .ldy = *incy,
                                  .h11 = h[0] == 0 ? 1 : h[1], .h12 = h[0] == 1 ? 1 : h[3],
                                  .h21 = h[0] == 1 ? -1 : h[2], .h22 = h[0] == 0 ? 1 : h[4]};
    P_rot_table[*incx != 1 || *incy != 1](&a);
}

void cblas_Protm(int n, REAL *x, int incx, REAL *y, int incy, const REAL *h)
{
    P_rotm_(&n, x, &incx, y, &incy, h);
}

/* The rotation that makes the second element 0. */
void P_rotg_(REAL *a, REAL *b, REAL *c, REAL *s)
{
    const REAL first = fabs(*a), second = fabs(*b);
    if (second == 0) {
        *c = 1;
        *s = *b = 0;
    } else if (first == 0) {
        *c = 0;
        *s = 1;
        *a = *b;
        *b = 1;
    } else {
        const REAL most = first > second ? first : second;
        const REAL scale = most < REAL_MIN ? REAL_MIN : most > 1 / REAL_MIN ? 1 / REAL_MIN : most;
        const REAL x = *a / scale, y = *b / scale;
        const REAL norm = scale * (REAL)sqrt((double)(x * x + y * y));
        const REAL r = copysign(norm, first > second ? *a : *b);
        *c = *a / r;
        *s = *b / r;
        *b = first > second ? *s : *c != 0 ? 1 / *c : 1;
        *a = r;
    }
}

void cblas_Protg(REAL *a, REAL *b, REAL *c, REAL *s)
{
    P_rotg_(a, b, c, s);
}

/* The modified rotation that makes the second element 0, with its factors in bounds. */
void P_rotmg_(REAL *d1, REAL *d2, REAL *x1, const REAL *y1, REAL *h)
{
    const REAL by = 4096;
    REAL flag = -1, h11 = 0, h12 = 0, h21 = 0, h22 = 0;
    const REAL p1 = *d1 * *x1, p2 = *d2 * *y1, q1 = p1 * *x1, q2 = p2 * *y1;
    if (*d1 >= 0 && p2 == 0) {
        h[0] = -2;
        return;
    }
    if (*d1 >= 0 && fabs(q1) > fabs(q2)) {
        h21 = -*y1 / *x1;
        h12 = p2 / p1;
        const REAL u = 1 - h12 * h21;
        if (u > 0) {
            flag = 0;
            *d1 /= u;
            *d2 /= u;
            *x1 *= u;
        } else
            h12 = h21 = *d1 = *d2 = *x1 = 0;
    } else if (*d1 >= 0 && q2 >= 0) {
        flag = 1;
        h11 = p1 / p2;
        h22 = *x1 / *y1;
        const REAL u = 1 + h11 * h22, first = *d2 / u;
        *d2 = *d1 / u;
        *d1 = first;
        *x1 = *y1 * u;
    } else
        *d1 = *d2 = *x1 = 0;
    for (int k = 0; k < 2; k++) {
        REAL *d = k ? d2 : d1, *left = k ? &h21 : &h11, *right = k ? &h22 : &h12;
        while (*d != 0 && (fabs(*d) <= 1 / (by * by) || fabs(*d) >= by * by)) {
            if (flag == 0)
                h11 = h22 = 1;
            if (flag == 1) {
                h21 = -1;
                h12 = 1;
            }
            flag = -1;
            const REAL factor = fabs(*d) <= 1 / (by * by) ? by : 1 / by;
            *d *= factor * factor;
            *left /= factor;
            *right /= factor;
            if (!k)
                *x1 /= factor;
        }
    }
    h[0] = flag;
    if (flag < 1) {
        h[2] = h21;
        h[3] = h12;
    }
    if (flag != 0) {
        h[1] = h11;
        h[4] = h22;
    }
}

void cblas_Protmg(REAL *d1, REAL *d2, REAL *x1, REAL y1, REAL *h)
{
    P_rotmg_(d1, d2, x1, &y1, h);
}
