// Runs what Pluto's transformations make of a kernel, written by hand, beside the loops of its
// definition, and compares all arrays. With -DGENERATED=ARGUMENTS it also calls `generated`, and
// times both in turn: the medians, and the median of what pairs of runs have as their ratio, since
// whoever else uses the machine slows both of a pair down.
//
// Before it, a kernel has its arrays, as variables of the file: Pluto's are too, and compilers know that
// variables do not overlap. Then come `ARRAYS`, each with its number of elements, its functions
// `by_hand` and `reference`, and the `ARGUMENTS` of the latter.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef RUNS
#define RUNS 15
#endif

enum {
#define NUMBER(name, count) number_##name,
    ARRAYS(NUMBER) COUNT
};

static const size_t counts[COUNT] = {
#define ELEMENTS(name, count) (size_t)(count),
    ARRAYS(ELEMENTS)
};

// The inputs, the arrays of the reference, and those of the file.
static double *copies[3][COUNT] = {{0}, {0}, {
#define PLACE(name, count) (double *)name,
    ARRAYS(PLACE)
}};
static int now;
// The arrays that were arguments since the last reset: `generated` has space of its own for others.
static int passed[COUNT];

#define AT(name) (passed[number_##name] = 1, (void *)copies[now][number_##name])
#define NUMBERED(name) number_##name
#define OF(name) NUMBERED(name)

static void reset(int copy)
{
    for (int k = 0; k < COUNT; k++)
        memcpy(copies[copy][k], copies[0][k], counts[k] * sizeof(double));
    memset(passed, 0, sizeof(passed));
    now = copy;
}

static int differs(int copy, int all, const char *what)
{
    for (int k = 0; k < COUNT; k++)
        for (size_t q = 0; q < counts[k] && (all || passed[k]); q++) {
            const double x = copies[1][k][q], y = copies[copy][k][q];
            if (!(fabs(x - y) <= 1e-9 * (1 + fabs(x)))) {
                printf("%s: array %d, element %zu is %g instead of %g\n", what, k, q, y, x);
                return 1;
            }
        }
    return 0;
}

#ifdef GENERATED
void generated();

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof(double), ascending);
    return values[RUNS / 2];
}
#endif

int main(void)
{
    for (int k = 0; k < COUNT; k++)
        for (int copy = 0; copy < 2; copy++)
            copies[copy][k] = aligned_alloc(64, (counts[k] * sizeof(double) + 63) / 64 * 64);
    unsigned state = 1;
    for (int k = 0; k < COUNT; k++)
        for (size_t q = 0; q < counts[k]; q++) {
            state = state * 1664525u + 1013904223u;
            copies[0][k][q] = (double)(state >> 8) / (1 << 24) - 0.5;
        }
#ifdef SHIFTED
    for (size_t q = 0; q < counts[OF(SHIFTED)]; q++)
        copies[0][OF(SHIFTED)][q] += 1;
#endif
    reset(1);
    reference(ARGUMENTS);
    reset(2);
    by_hand();
    int wrong = differs(2, 1, "by hand");
#ifdef GENERATED
    reset(2);
    generated(GENERATED);
    wrong |= differs(2, 0, "generated");
    double times[2][RUNS];
    for (int run = 0; run < RUNS; run++)
        for (int which = 0; which < 2; which++) {
            reset(2);
            const double begin = seconds();
            if (which)
                generated(GENERATED);
            else
                by_hand();
            times[which][run] = seconds() - begin;
        }
    double ratios[RUNS];
    for (int run = 0; run < RUNS; run++)
        ratios[run] = times[1][run] / times[0][run];
    const double hand = median(times[0]), own = median(times[1]);
    printf("by hand %.3f ms, generated %.3f ms, %.2f\n", 1e3 * hand, 1e3 * own, median(ratios));
#endif
    return wrong;
}
