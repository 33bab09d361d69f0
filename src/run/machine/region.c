// Parallel loops of one iteration for each thread, one after the other, in which next to nothing
// happens. Before it stand LOOPS (how many there are) and THREADS.
void teml_region(double a[restrict THREADS * 8], const double b[restrict 1])
{
    for (int64_t k = 0; k < LOOPS; k++) {
        #pragma omp parallel for
        for (int64_t t = 0; t < THREADS; t++)
            a[8 * t] = b[0] + k;
    }
}
