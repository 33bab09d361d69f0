// Reads two parts of an array and writes another one past the caches. Before it stand SIZE (elements
// of the array that is read) and COUNT (of each part, a multiple of a register).
void teml_triad(double a[restrict COUNT], const double b[restrict SIZE])
{
    const double *restrict c = b + (SIZE - COUNT);
    #pragma omp parallel
    {
        #pragma omp for nowait
        for (int64_t k = 0; k < COUNT; k += TEML_F64XN)
            TEML_STREAM(f64xn(a[k]), f64xn(b[k]) + 3.0 * f64xn(c[k]));
        teml_fence();
    }
}
