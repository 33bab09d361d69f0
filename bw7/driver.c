// Checks and times the kernels: ./driver [RUNS]
#include "driver.h"
#include "kernels.h"

static double *teml_in_x;
static double *teml_0_x;
static void prepare_0(void)
{
    memcpy(teml_0_x, teml_in_x, 32000 * sizeof(double));
}
static void run_0(void)
{
    a((void *)teml_0_x);
}

static double *teml_1_x;
static void prepare_1(void)
{
    memcpy(teml_1_x, teml_in_x, 32000 * sizeof(double));
}
static void run_1(void)
{
    b((void *)teml_1_x);
}

static double *teml_2_x;
static void prepare_2(void)
{
    memcpy(teml_2_x, teml_in_x, 32000 * sizeof(double));
}
static void run_2(void)
{
    reference((void *)teml_2_x);
}

static const struct teml_variant variants[] = {
    { "a", prepare_0, run_0 },
    { "b", prepare_1, run_1 },
};

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 5;
    teml_in_x = teml_allocate(32000, sizeof(double), 0);
    for (int64_t x = 0; x < 32000; x++)
        teml_in_x[x] = (double)((double)((x % 101 * 7 + 0) % 101) / 101.0 - 0.5);
    teml_0_x = teml_allocate(32000, sizeof(double), 1600);
    teml_1_x = teml_allocate(32000, sizeof(double), 1600);
    teml_2_x = teml_allocate(32000, sizeof(double), 1600);
    prepare_2();
    run_2();
    for (int v = 0; v < 2; v++) {
        variants[v].prepare();
        variants[v].run();
        TEML_CHECK(variants[v].name)
    }
    int wrong = 0;
    wrong |= teml_compare_double("a", "x", teml_2_x, teml_0_x, 32000, 1e-9);
    wrong |= teml_compare_double("b", "x", teml_2_x, teml_1_x, 32000, 1e-9);
    if (wrong) return 1;
    if (runs > 0) teml_time(variants, 2, runs);
    return 0;
}
