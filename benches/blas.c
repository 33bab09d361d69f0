/* Times routines of two BLAS libraries in turn: ./blas OURS THEIRS [FILTER]. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double *A, *B, *C;

struct call {
    const char *routine;
    int m, n, k;
    double operations;
};

static const double alpha = 1.25, beta = 0.5, one = 1, minus = -1;
static const int inc = 1;

/* One call of a routine; square matrices have m rows. */
static void call(void *f, const struct call *c)
{
    const char *r = c->routine;
    const int m = c->m, n = c->n, k = c->k;
    const double *cc = &alpha, *ss = &beta;
    typedef void any();
    any *g = (any *)f;
    if (!strncmp(r, "dgemm", 5)) {
        const int ta = r[6] == 't', tb = r[7] == 't';
        g(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &alpha, A, ta ? &k : &m, B, tb ? &n : &k, &beta, C, &m);
    } else if (!strncmp(r, "dsymm", 5))
        g("L", "L", &m, &n, &alpha, A, &m, B, &m, &beta, C, &m);
    else if (!strncmp(r, "dsyrk", 5))
        g("L", "N", &n, &k, &alpha, A, &n, &beta, C, &n);
    else if (!strncmp(r, "dsyr2k", 6))
        g("L", "N", &n, &k, &alpha, A, &n, B, &n, &beta, C, &n);
    else if (!strncmp(r, "dtrmm", 5) || !strncmp(r, "dtrsm", 5)) {
        const int right = r[6] == 'r';
        const char uplo[2] = {r[7] == 'u' ? 'U' : 'L'}, trans[2] = {r[8] == 't' ? 'T' : 'N'};
        g(right ? "R" : "L", uplo, trans, "N", &m, &n, &one, A, right ? &n : &m, B, &m);
    } else if (!strncmp(r, "dgemv", 5))
        g(r[6] == 't' ? "T" : "N", &m, &n, &alpha, A, &m, B, &inc, &beta, C, &inc);
    else if (!strncmp(r, "dsymv", 5))
        g("L", &n, &alpha, A, &n, B, &inc, &beta, C, &inc);
    else if (!strncmp(r, "dger", 4))
        g(&m, &n, &alpha, B, &inc, C, &inc, A, &m);
    else if (!strncmp(r, "dtrmv", 5) || !strncmp(r, "dtrsv", 5))
        g("L", r[6] == 't' ? "T" : "N", "N", &n, A, &n, C, &inc);
    else if (!strcmp(r, "daxpy"))
        g(&n, &alpha, B, &inc, C, &inc);
    else if (!strcmp(r, "ddot"))
        ((double (*)())f)(&n, B, &inc, C, &inc);
    else if (!strcmp(r, "dnrm2") || !strcmp(r, "dasum"))
        ((double (*)())f)(&n, B, &inc);
    else if (!strcmp(r, "idamax"))
        ((int (*)())f)(&n, B, &inc);
    else if (!strcmp(r, "dscal"))
        g(&n, &minus, B, &inc);
    else if (!strcmp(r, "dcopy") || !strcmp(r, "dswap"))
        g(&n, B, &inc, C, &inc);
    else if (!strcmp(r, "drot"))
        g(&n, B, &inc, C, &inc, cc, ss);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    void *library[2];
    for (int v = 0; v < 2; v++)
        if (!(library[v] = dlopen(argv[1 + v], RTLD_NOW | RTLD_LOCAL))) {
            puts(dlerror());
            return 1;
        }
    const size_t most = (size_t)1 << 24;
    A = malloc(most * 8), B = malloc(most * 8), C = malloc(most * 8);
    for (size_t i = 0; i < most; i++)
        A[i] = 0.5, B[i] = 1e-3 * (double)(i % 17), C[i] = 1e-3 * (double)(i % 13);
    static struct call calls[400];
    int count = 0;
    const int squares[] = {4, 8, 16, 32, 64, 100, 256, 500, 1000};
    const char *third[] = {"dgemm_nn", "dgemm_nt", "dgemm_tn", "dgemm_tt", "dsymm", "dsyrk", "dsyr2k",
                           "dtrmm_lln", "dtrmm_rut", "dtrsm_lln", "dtrsm_lut", "dtrsm_rln", "dtrsm_rut"};
    for (size_t r = 0; r < sizeof third / sizeof *third; r++)
        for (size_t s = 0; s < sizeof squares / sizeof *squares; s++) {
            const double n = squares[s];
            const int half = !strncmp(third[r], "dtr", 3) || !strcmp(third[r], "dsyrk");
            calls[count++] = (struct call){third[r], (int)n, (int)n, (int)n, (half ? 1 : 2) * n * n * n};
        }
    calls[count++] = (struct call){"dgemm_nn", 2000, 2000, 16, 2.0 * 2000 * 2000 * 16};
    calls[count++] = (struct call){"dgemm_nn", 2000, 16, 2000, 2.0 * 2000 * 2000 * 16};
    calls[count++] = (struct call){"dgemm_nn", 16, 2000, 2000, 2.0 * 2000 * 2000 * 16};
    const char *second[] = {"dgemv_n", "dgemv_t", "dsymv", "dger", "dtrmv_n", "dtrmv_t", "dtrsv_n", "dtrsv_t"};
    const int sides[] = {16, 64, 200, 1000, 4000};
    for (size_t r = 0; r < sizeof second / sizeof *second; r++)
        for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
            const double n = sides[s];
            calls[count++] = (struct call){second[r], (int)n, (int)n, 0, 2 * n * n};
        }
    const char *first[] = {"daxpy", "ddot", "dnrm2", "dasum", "idamax", "dscal", "dcopy", "dswap", "drot"};
    const int lengths[] = {16, 1000, 100000, 8000000};
    for (size_t r = 0; r < sizeof first / sizeof *first; r++)
        for (size_t s = 0; s < sizeof lengths / sizeof *lengths; s++)
            calls[count++] = (struct call){first[r], 1, lengths[s], 0, 2.0 * lengths[s]};
    puts("| routine | m | n | k | ours | theirs | ratio |\n|---|---|---|---|---|---|---|");
    double product[4] = {0};
    int terms[4] = {0};
    for (int c = 0; c < count; c++) {
        if (argc > 3 && !strstr(calls[c].routine, argv[3]))
            continue;
        char name[32];
        snprintf(name, sizeof name, "%s", calls[c].routine);
        *strchrnul(name, '_') = 0;
        strcat(name, "_");
        double times[2][ROUNDS];
        void *f[2] = {dlsym(library[0], name), dlsym(library[1], name)};
        if (!f[0] || !f[1])
            continue;
        int repeats = 1;
        for (double t = 0; t < 1e-3; repeats *= 2) {
            const double start = now();
            for (int k = 0; k < repeats; k++)
                call(f[1], &calls[c]);
            t = now() - start;
        }
        repeats = repeats > 1 ? repeats / 2 : 1;
        for (int round = 0; round < ROUNDS; round++)
            for (int v = 0; v < 2; v++) {
                /* Repeated updates must not overflow. */
                for (size_t i = 0; repeats > 1 && i < 1 << 20; i++)
                    B[i] = 1e-3 * (double)(i % 17), C[i] = 1e-3 * (double)(i % 13);
                call(f[v], &calls[c]);
                const double start = now();
                for (int k = 0; k < repeats; k++)
                    call(f[v], &calls[c]);
                times[v][round] = (now() - start) / repeats;
            }
        for (int v = 0; v < 2; v++)
            qsort(times[v], ROUNDS, sizeof(double), compare);
        const double ours = times[0][0], theirs = times[1][0];
        printf("| %s | %d | %d | %d | %.2f | %.2f | %.2f |\n", calls[c].routine, calls[c].m, calls[c].n,
               calls[c].k, 1e-9 * calls[c].operations / ours, 1e-9 * calls[c].operations / theirs,
               theirs / ours);
        fflush(stdout);
        const int level = strlen(calls[c].routine) > 5 && strchr("m", calls[c].routine[4]) ? 3 : 0;
        (void)level;
        const int group = calls[c].k ? 3 : calls[c].m > 1 ? 2 : 1;
        product[group] += log(theirs / ours);
        terms[group]++;
    }
    for (int group = 1; group < 4; group++)
        if (terms[group])
            printf("level %d: geometric mean of theirs / ours %.2f over %d rows\n", group,
                   exp(product[group] / terms[group]), terms[group]);
    return 0;
}
