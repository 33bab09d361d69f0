// Reads two arrays and writes one past the caches. Before it stands COUNT (of elements, a multiple
// of a register).
void teml_triad(double a[restrict COUNT], const double b[restrict COUNT], const double c[restrict COUNT])
{
    #pragma omp parallel
    {
        #pragma omp for nowait
        for (int64_t k = 0; k < COUNT; k += TEML_F64XN)
            TEML_STREAM(f64xn(a[k]), f64xn(b[k]) + 3.0 * f64xn(c[k]));
        teml_fence();
    }
}
