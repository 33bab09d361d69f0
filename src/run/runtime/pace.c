// A loop of known length on each thread of a team, which shows whether others use its core. Before it
// stands THREADS (how many there are at most). `told` gets a pair for each thread: what the loop took, in
// nanoseconds, and the core that it ran on.
#include <time.h>

// Both C libraries of Linux have it, whichever functions the standard lets their headers declare.
int sched_getcpu(void);

static struct timespec now(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return time;
}

// As many sums that do not depend on each other as keep the units of a core busy, of 16 KiB of values, which
// stay in its nearest cache: what another thread does with these is noticed. Some microseconds.
#define VALUES 2052

static double loop(const double values[VALUES])
{
    volatile double factor = 0.999;
    const double f = factor, *x = values;
    double a = 1, b = 1, c = 1, d = 1, e = 1, g = 1, h = 1, i = 1, j = 1, k = 1, l = 1, m = 1;
    const struct timespec begun = now();
    for (int round = 0; round < 3000; round++) {
        a = a * f + x[0], b = b * f + x[1], c = c * f + x[2], d = d * f + x[3];
        e = e * f + x[4], g = g * f + x[5], h = h * f + x[6], i = i * f + x[7];
        j = j * f + x[8], k = k * f + x[9], l = l * f + x[10], m = m * f + x[11];
        x = x + 12 < values + VALUES ? x + 12 : values;
    }
    const struct timespec ended = now();
    volatile double sum = a + b + c + d + e + g + h + i + j + k + l + m;
    (void)sum;
    return 1e9 * (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec);
}

// The middle one of three.
static double middle(double x, double y, double z)
{
    const double least = x < y ? x : y, most = x < y ? y : x;
    return z < least ? least : z < most ? z : most;
}

void teml_pace(double told[restrict THREADS * 2])
{
    int count = 0;
    #pragma omp parallel
    {
        double values[VALUES];
        for (int k = 0; k < VALUES; k++)
            values[k] = 0.001;
        // The first finds its code cold.
        loop(values);
        const double first = loop(values), second = loop(values), third = loop(values);
        #pragma omp critical
        if (count < THREADS) {
            told[2 * count] = middle(first, second, third);
            told[2 * count + 1] = sched_getcpu();
            count++;
        }
    }
}
