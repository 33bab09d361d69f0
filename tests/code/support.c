// What each name of the support code means, element by element, and whether it does that.
// The headers come before this, in their order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *what;
static int wrong;

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            if (wrong++ < 20) printf("%s: %s, line %d\n", what, #condition, __LINE__); \
        } \
    } while (0)

// The same number, or both none.
#define SAME(a, b) ((a) == (b) || ((a) != (a) && (b) != (b)))

// The end of a page, behind which nothing may be touched.
static char *edge(void)
{
    static char *page;
    if (!page) {
        page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE)) exit(3);
    }
    return page + 4096;
}

// A vector of neighbors: lane k is element k after the first one.
#define NEIGHBORS(type, vector, access, lanes) \
    static void neighbors_##vector(void) \
    { \
        what = #access; \
        type x[3 * 64]; \
        for (int from = 0; from < 17; from++) { \
            for (int k = 0; k < 3 * 64; k++) x[k] = (type)(k + 1); \
            HOLDS(sizeof(vector) == sizeof(type) * (lanes)); \
            vector v = access(x[from]); \
            for (int k = 0; k < (lanes); k++) HOLDS(v[k] == (type)(from + k + 1)); \
            access(x[from]) = v + v; \
            for (int k = 0; k < 3 * 64; k++) { \
                const int is_inside = k >= from && k < from + (lanes); \
                HOLDS(x[k] == (type)((is_inside ? 2 : 1) * (k + 1))); \
            } \
        } \
    }

NEIGHBORS(double, teml_f64xn, f64xn, TEML_F64XN)
NEIGHBORS(double, teml_f64x2, f64x2, 2)
NEIGHBORS(double, teml_f64x4, f64x4, 4)
NEIGHBORS(double, teml_f64x8, f64x8, 8)
NEIGHBORS(double, teml_f64x16, f64x16, 16)
NEIGHBORS(double, teml_f64xf32n, f64xf32n, TEML_F32XN)
NEIGHBORS(float, teml_f32xn, f32xn, TEML_F32XN)
NEIGHBORS(float, teml_f32x2, f32x2, 2)
NEIGHBORS(float, teml_f32x4, f32x4, 4)
NEIGHBORS(float, teml_f32x8, f32x8, 8)
NEIGHBORS(float, teml_f32x16, f32x16, 16)
NEIGHBORS(float, teml_f32xf64n, f32xf64n, TEML_F64XN)
NEIGHBORS(int32_t, teml_i32x2, i32x2, 2)
NEIGHBORS(int32_t, teml_i32x4, i32x4, 4)
NEIGHBORS(int32_t, teml_i32x8, i32x8, 8)
NEIGHBORS(int32_t, teml_i32x16, i32x16, 16)
NEIGHBORS(int32_t, teml_i32xf64n, i32xf64n, TEML_F64XN)
NEIGHBORS(int32_t, teml_i32xn, i32xn, TEML_I32XN)
NEIGHBORS(int64_t, teml_i64x2, i64x2, 2)
NEIGHBORS(int64_t, teml_i64x4, i64x4, 4)
NEIGHBORS(int64_t, teml_i64x8, i64x8, 8)
NEIGHBORS(int64_t, teml_i64x16, i64x16, 16)
NEIGHBORS(int64_t, teml_i64xn, i64xn, TEML_I64XN)
NEIGHBORS(int64_t, teml_i64xf32n, i64xf32n, TEML_F32XN)

// The first n elements are read, and the other lanes are zeros; the first n are written, and no other
// memory is touched.
#define PARTS(type, elem, ELEM, lanes) \
    static void parts_##elem(void) \
    { \
        for (int64_t n = 0; n <= (lanes) + 2; n++) { \
            const int64_t live = n < (lanes) ? n : (lanes); \
            type *x = (type *)edge() - live; \
            for (int k = 0; k < live; k++) x[k] = (type)(k + 1); \
            what = #elem "xn_part"; \
            teml_##elem##xn v = elem##xn_part(*x, n); \
            for (int k = 0; k < (lanes); k++) HOLDS(v[k] == (k < live ? (type)(k + 1) : 0)); \
            v = teml_##elem##_part(x, n); \
            for (int k = 0; k < (lanes); k++) v[k] = (type)(10 * k + 7); \
            what = #ELEM "_SET"; \
            x[-1] = -1; \
            TEML_##ELEM##_SET(*x, n, v); \
            for (int k = 0; k < live; k++) HOLDS(x[k] == v[k]); \
            HOLDS(x[-1] == -1); \
            for (int k = 0; k < live; k++) x[k] = 0; \
            what = #ELEM "_PUT"; \
            TEML_##ELEM##_PUT(*x, n, v); \
            for (int k = 0; k < live; k++) HOLDS(x[k] == v[k]); \
            HOLDS(x[-1] == -1); \
            teml_##elem##_set(x, n, v + v); \
            teml_##elem##_put(x, n, v); \
            for (int k = 0; k < live; k++) HOLDS(x[k] == v[k]); \
            what = #elem "xn_held"; \
            v = teml_##elem##xn_held(v); \
            for (int k = 0; k < (lanes); k++) HOLDS(v[k] == (type)(10 * k + 7)); \
        } \
    }

PARTS(double, f64, F64XN, TEML_F64XN)
PARTS(float, f32, F32XN, TEML_F32XN)
PARTS(int64_t, i64, I64XN, TEML_I64XN)
PARTS(int32_t, i32, I32XN, TEML_I32XN)

// Lanes that are apart: each is an element, and dead ones are zeros that are not stored.
#define APART(type, vector, lanes) \
    do { \
        what = "TEML_APART of " #vector; \
        for (int by = -5; by < 6; by++) \
            for (int n = 0; n <= (lanes) + 1; n++) { \
                static type x[256]; \
                for (int k = 0; k < 256; k++) x[k] = (type)(k + 1); \
                const teml_##vector g = TEML_GATHER(vector, x[128 + by * teml_k * teml_k % 97]); \
                for (int k = 0; k < (lanes); k++) HOLDS(g[k] == x[128 + by * k * k % 97]); \
                teml_##vector v = TEML_APART(vector, x[128], x[128 + by]); \
                for (int k = 0; k < (lanes); k++) HOLDS(v[k] == x[128 + k * by]); \
                const teml_##vector w = TEML_APART_PART(vector, x[128], x[128 + by], n); \
                for (int k = 0; k < (lanes); k++) HOLDS(w[k] == (k < n ? v[k] : 0)); \
                if (by == 0) continue; \
                TEML_APART_PART_SET(vector, x[128], x[128 + by], n, v + v); \
                for (int k = 0; k < 256; k++) { \
                    const int at = (k - 128) / by, live = n < (lanes) ? n : (lanes); \
                    const int is_set = (k - 128) % by == 0 && at >= 0 && at < live; \
                    HOLDS(x[k] == (type)((is_set ? 2 : 1) * (k + 1))); \
                } \
                TEML_APART_SET(vector, x[128], x[128 + by], v); \
                for (int k = 0; k < 256; k++) HOLDS(x[k] == (type)(k + 1)); \
            } \
    } while (0)

static void apart(void)
{
    APART(double, f64xn, TEML_F64XN);
    APART(double, f64x2, 2);
    APART(float, f32xn, TEML_F32XN);
    APART(float, f32x16, 16);
    APART(int64_t, i64xn, TEML_I64XN);
    APART(int32_t, i32xn, TEML_I32XN);
}

static void masks(void)
{
    what = "TEML_MASK";
    for (int lanes = 2; lanes <= 16; lanes *= 2)
        for (int n = 0; n <= 20; n++) {
            unsigned bits = 0;
            for (int k = 0; k < lanes && k < n; k++) bits |= 1u << k;
            HOLDS(TEML_MASK(lanes, n) == bits);
        }
    what = "TEML_LEFT";
    for (int64_t n = -5; n < 5; n++) HOLDS(TEML_LEFT(n) == (n > 0 ? n : 0));
}

// Stores past the caches: the same elements, wherever they begin.
#define STREAMS(type, access, lanes) \
    do { \
        what = "TEML_STREAM of " #access; \
        static type x[256] __attribute__((aligned(64))); \
        for (int from = 64; from < 64 + 17; from++) \
            for (int all = 0; all < 3; all++) { \
                for (int k = 0; k < 256; k++) x[k] = -1; \
                __typeof__(access(x[0])) v; \
                for (int k = 0; k < (lanes); k++) v[k] = (type)(k + 1); \
                if (all == 0) \
                    TEML_STREAM(access(x[from]), v); \
                else \
                    TEML_STREAM_IF(all == 1 && TEML_ALIGNED(access(x[from])), access(x[from]), v); \
                teml_fence(); \
                for (int k = 0; k < 256; k++) \
                    HOLDS(x[k] == (k >= from && k < from + (lanes) ? (type)(k - from + 1) : -1)); \
            } \
    } while (0)

static void streams(void)
{
    STREAMS(double, f64xn, TEML_F64XN);
    STREAMS(double, f64x2, 2);
    STREAMS(double, f64x4, 4);
    STREAMS(double, f64x8, 8);
    STREAMS(float, f32xn, TEML_F32XN);
    STREAMS(float, f32x2, 2);
    STREAMS(float, f32x4, 4);
    STREAMS(float, f32x8, 8);
    STREAMS(float, f32x16, 16);
    STREAMS(int64_t, i64xn, TEML_I64XN);
    STREAMS(int32_t, i32xn, TEML_I32XN);
    what = "TEML_IS_ALIGNED";
    static char bytes[256] __attribute__((aligned(64)));
    for (int k = 0; k < 128; k++) HOLDS(TEML_IS_ALIGNED(bytes + k) == (k % 64 == 0));
    what = "teml_copy_past";
    static float from[256], to[256] __attribute__((aligned(64)));
    for (int k = 0; k < 256; k++) from[k] = (float)(k + 1);
    for (int a = 0; a < 17; a++)
        for (int b = 0; b < 17; b++)
            for (int count = 0; count < 100; count += 1 + count / 40) {
                for (int k = 0; k < 256; k++) to[k] = -1;
                teml_copy_past((char *)&to[16 + a], (const char *)&from[b], 4 * count);
                teml_fence();
                for (int k = 0; k < 256; k++) {
                    const int is_inside = k >= 16 + a && k < 16 + a + count;
                    HOLDS(to[k] == (is_inside ? from[k - 16 - a + b] : -1));
                }
            }
}

// The values of an index, and the steps to it, in lanes.
#define INDEX(vector, lanes) \
    do { \
        what = "teml_lanes of " #vector; \
        const teml_##vector v = teml_lanes(vector, first, by); \
        for (int k = 0; k < (lanes); k++) HOLDS(v[k] == first + k * by); \
    } while (0)

#define STEPS(vector, lanes) \
    do { \
        what = "teml_steps of " #vector; \
        const teml_##vector v = teml_steps(vector, by); \
        for (int k = 0; k < (lanes); k++) HOLDS(v[k] == k * by); \
    } while (0)

static void indices(void)
{
    for (int64_t first = -3; first < 4; first++)
        for (int by = -3; by < 4; by++) {
            INDEX(i64xn, TEML_I64XN);
            INDEX(i64xf32n, TEML_F32XN);
            INDEX(i64x2, 2);
            INDEX(i64x4, 4);
            INDEX(i64x8, 8);
            INDEX(i64x16, 16);
            STEPS(i32xf64n, TEML_F64XN);
            STEPS(i32xn, TEML_I32XN);
            STEPS(i32x2, 2);
            STEPS(i32x4, 4);
            STEPS(i32x8, 8);
            STEPS(i32x16, 16);
        }
    what = "teml_near";
    const int64_t far = (int64_t)1 << 30;
    for (int64_t x = -2; x < 3; x++) {
        HOLDS(teml_near(x) == x);
        HOLDS(teml_near(far + x) == (x < 0 ? far + x : far));
        HOLDS(teml_near(-far + x) == (x > 0 ? -far + x : -far));
        HOLDS(teml_near(INT64_MAX - 3 + x) == far);
        HOLDS(teml_near(INT64_MIN + 3 + x) == -far);
    }
    what = "teml_widened";
    static const float floats[] = {0, 1, -2.5f, 1e30f, -1e-30f, 3, 0.1f, -7};
    teml_f32xf64n x;
    for (int k = 0; k < TEML_F64XN; k++) x[k] = floats[k];
    const teml_f64xn wide = teml_widened(x);
    for (int k = 0; k < TEML_F64XN; k++) HOLDS(wide[k] == (double)floats[k]);
    what = "teml_iwidened";
    static const int32_t ints[] = {0, 1, -2, INT32_MAX, INT32_MIN, 3, -1, 77};
    teml_i32xf64n y;
    for (int k = 0; k < TEML_F64XN; k++) y[k] = ints[k];
    const teml_i64xn long_y = teml_iwidened(y);
    for (int k = 0; k < TEML_F64XN; k++) HOLDS(long_y[k] == ints[k]);
}

// Numbers of C without vectors.
static void numbers(void)
{
    static const double x[] = {-INFINITY, -3.5, -1, -0.0, 0, 1, 2.5, INFINITY, NAN};
    const int all = sizeof x / sizeof *x;
    for (int i = 0; i < all; i++)
        for (int j = 0; j < all; j++) {
            // The second one only if it is a number that is not beyond the first one.
            const double a = x[i], b = x[j];
            const double least = b != b ? a : a < b ? a : b, most = b != b ? a : a > b ? a : b;
            what = "teml_fmin";
            HOLDS(SAME(teml_fmin(a, b), least) && SAME(teml_fminf((float)a, (float)b), (float)least));
            what = "teml_fmax";
            HOLDS(SAME(teml_fmax(a, b), most) && SAME(teml_fmaxf((float)a, (float)b), (float)most));
        }
    for (int64_t a = -9; a < 10; a++)
        for (int64_t b = -9; b < 10; b++) {
            what = "teml_min, teml_max";
            HOLDS(teml_min((int)a, (int)b) == (a < b ? a : b) && teml_min64(a, b) == (a < b ? a : b));
            HOLDS(teml_max((int)a, (int)b) == (a > b ? a : b) && teml_max64(a, b) == (a > b ? a : b));
            what = "teml_abs";
            HOLDS(teml_abs((int32_t)a) == (a < 0 ? -a : a) && teml_abs64(a) == (a < 0 ? -a : a));
            if (b == 0) continue;
            what = "teml_div, teml_mod";
            const int64_t q = teml_div64(a, b), r = teml_mod64(a, b), size = b < 0 ? -b : b;
            HOLDS(q * b <= (a < 0 ? 0 : a) && (a - q * b < 0 ? q * b - a : a - q * b) < size);
            HOLDS(r >= 0 && r < size && (a - r) % b == 0);
            HOLDS(teml_div((int32_t)a, (int32_t)b) == q && teml_mod((int32_t)a, (int32_t)b) == r);
        }
    volatile int32_t least = INT32_MIN, one = -1;
    volatile int64_t least64 = INT64_MIN, one64 = -1;
    HOLDS(teml_div(least, one) == INT32_MIN && teml_mod(least, one) == 0);
    HOLDS(teml_div64(least64, one64) == INT64_MIN && teml_mod64(least64, one64) == 0);
    what = "teml_to_i32, teml_to_i64";
    static const struct { double x; int32_t to32; int64_t to64; } cut[] = {
        {NAN, 0, 0}, {2.9, 2, 2}, {-2.9, -2, -2}, {-0.5, 0, 0},
        {INFINITY, INT32_MAX, INT64_MAX}, {-INFINITY, INT32_MIN, INT64_MIN},
        {2147483646.5, 2147483646, 2147483646}, {2147483648.0, INT32_MAX, INT64_C(2147483648)},
        {-2147483648.5, INT32_MIN, INT64_C(-2147483648)}, {-2147483647.5, -2147483647, -2147483647},
        {9223372036854774784.0, INT32_MAX, INT64_C(9223372036854774784)},
        {9223372036854775808.0, INT32_MAX, INT64_MAX}, {-9223372036854775808.0, INT32_MIN, INT64_MIN},
    };
    for (unsigned k = 0; k < sizeof cut / sizeof *cut; k++)
        HOLDS(teml_to_i32(cut[k].x) == cut[k].to32 && teml_to_i64(cut[k].x) == cut[k].to64);
    what = "teml_to_f32";
    volatile double third = 1.0 / 3;
    volatile float rounded = (float)third;
    HOLDS((double)teml_to_f32(third) == (double)rounded);
}

#define POWER(n) \
    do { \
        what = "teml_pow" #n; \
        for (int x = -4; x < 5; x++) { \
            double power = 1; \
            for (int k = 0; k < n; k++) power *= x; \
            teml_f64xn v = (double)x - (teml_f64xn){0}; \
            v = teml_pow##n(v); \
            for (int k = 0; k < TEML_F64XN; k++) HOLDS(v[k] == power); \
            HOLDS(teml_pow##n((double)x) == power && teml_pow##n((float)x) == (float)power); \
        } \
    } while (0)

static void powers(void)
{
    POWER(2); POWER(3); POWER(4); POWER(5); POWER(6); POWER(7); POWER(8);
    what = "teml_root";
    static const double x[] = {-INFINITY, -0.0, 0, 0.25, 1, 9, INFINITY, -1, NAN};
    for (unsigned k = 0; k < sizeof x / sizeof *x; k++) {
        HOLDS(SAME(teml_root(x[k]), pow(x[k], 0.5)) && signbit(teml_root(-0.0)) == 0);
        HOLDS(SAME(teml_rootf((float)x[k]), powf((float)x[k], 0.5f)));
    }
}

// Local tensors: as many elements as they say, aligned, zeros where that is promised.
static void locals(void)
{
    what = "TEML_LOCAL";
    for (int turn = 0; turn < 2; turn++) {
        TEML_LOCAL(double, a, [3][5]);
        TEML_LOCAL_ZERO(float, b, [3][5]);
        TEML_SPACE(double, c, [7][6]);
        TEML_SPACE_ZERO(float, d, [7][6]);
        HOLDS(sizeof a == 15 * sizeof(double) && sizeof b == 15 * sizeof(float));
        HOLDS(TEML_IS_ALIGNED(a) && TEML_IS_ALIGNED(b) && TEML_IS_ALIGNED(c) && TEML_IS_ALIGNED(d));
        HOLDS(sizeof *c == 6 * sizeof(double) && sizeof *d == 6 * sizeof(float));
        for (int k = 0; k < 15; k++) HOLDS(b[k / 5][k % 5] == 0);
        for (int k = 0; k < 42; k++) {
            HOLDS(d[k / 6][k % 6] == 0);
            c[k / 6][k % 6] = k;
        }
        for (int k = 0; k < 15; k++) a[k / 5][k % 5] = b[k / 5][k % 5] = (float)k;
        HOLDS(a[2][4] == 14 && b[2][4] == 14 && c[6][5] == 41);
    }
    what = "TEML_UNROLL, TEML_IN_ORDER";
    int sum = 0;
    TEML_UNROLL(4)
    for (int k = 0; k < 10; k++) {
        TEML_IN_ORDER();
        teml_load_here();
        sum += k;
    }
    HOLDS(sum == 45);
}

// Shares follow each other, and none has many more entries and rows than another one.
static void shares(void)
{
    static const int lengths[][8] = {{0, 0, 0, 0, 0, 0, 0, 0}, {3, 0, 1, 40, 0, 0, 2, 7}, {90, 1, 1, 1, 1, 1, 1, 1}};
    what = "TEML_SHARES, teml_first_row_i32, teml_first_row_i64";
    HOLDS(TEML_SHARES() >= 1);
    for (int k = 0; k < 3; k++) {
        int32_t narrow[9] = {5};
        int64_t wide[9] = {5};
        int longest = 0;
        for (int i = 0; i < 8; i++) {
            wide[i + 1] = narrow[i + 1] = narrow[i] + lengths[k][i];
            if (longest < lengths[k][i]) longest = lengths[k][i];
        }
        for (int rows = 0; rows <= 8; rows++)
            for (int count = 1; count < 12; count++) {
                int64_t end = 0;
                HOLDS(teml_first_row_i32(narrow, rows, 0, count) == 0);
                for (int share = 0; share < count; share++) {
                    const int64_t first = end;
                    end = teml_first_row_i64(wide, rows, share + 1, count);
                    HOLDS(first <= end && end == teml_first_row_i32(narrow, rows, share + 1, count));
                    HOLDS(wide[end] - wide[first] + end - first
                          <= (wide[rows] - wide[0] + rows) / count + longest + 2);
                }
                HOLDS(end == rows);
            }
    }
}

int main(void)
{
    neighbors_teml_f64xn(); neighbors_teml_f64x2(); neighbors_teml_f64x4(); neighbors_teml_f64x8();
    neighbors_teml_f64x16(); neighbors_teml_f64xf32n(); neighbors_teml_f32xn();
    neighbors_teml_f32x2(); neighbors_teml_f32x4(); neighbors_teml_f32x8(); neighbors_teml_f32x16();
    neighbors_teml_f32xf64n(); neighbors_teml_i32x2(); neighbors_teml_i32x4();
    neighbors_teml_i32x8(); neighbors_teml_i32x16(); neighbors_teml_i32xf64n();
    neighbors_teml_i32xn(); neighbors_teml_i64x2(); neighbors_teml_i64x4();
    neighbors_teml_i64x8(); neighbors_teml_i64x16(); neighbors_teml_i64xn();
    neighbors_teml_i64xf32n();
    parts_f64(); parts_f32(); parts_i64(); parts_i32();
    apart(); masks(); streams(); indices(); numbers(); powers(); locals(); shares();
    return wrong != 0;
}
