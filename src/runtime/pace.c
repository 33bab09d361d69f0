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

// As many sums that do not depend on each other as keep all units of a core busy: what another thread
// does with them is noticed. Some microseconds.
static double loop(void)
{
    volatile double factor = 0.999, term = 0.001;
    const double f = factor, t = term;
    double a = 1, b = 1, c = 1, d = 1, e = 1, g = 1, h = 1, i = 1, j = 1, k = 1, l = 1, m = 1;
    const struct timespec begun = now();
    for (int round = 0; round < 3000; round++) {
        a = a * f + t, b = b * f + t, c = c * f + t, d = d * f + t;
        e = e * f + t, g = g * f + t, h = h * f + t, i = i * f + t;
        j = j * f + t, k = k * f + t, l = l * f + t, m = m * f + t;
    }
    volatile double sum = a + b + c + d + e + g + h + i + j + k + l + m;
    (void)sum;
    const struct timespec ended = now();
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
        // The first finds its code cold.
        loop();
        const double first = loop(), second = loop(), third = loop();
        #pragma omp critical
        if (count < THREADS) {
            told[2 * count] = middle(first, second, third);
            told[2 * count + 1] = sched_getcpu();
            count++;
        }
    }
}
