// Reads an array and writes another one past the caches, both in two places at a time, with which
// one thread moves more. Before it stand SIZE (elements of the array that is read) and COUNT (how
// many of them are, a multiple of two registers).
void teml_copy(double a[restrict COUNT], const double b[restrict SIZE])
{
    #pragma omp parallel
    {
        #pragma omp for nowait
        for (int64_t k = 0; k < COUNT / 2; k += TEML_F64XN) {
            TEML_STREAM(f64xn(a[k]), 3.0 * f64xn(b[k]));
            TEML_STREAM(f64xn(a[COUNT / 2 + k]), 3.0 * f64xn(b[COUNT / 2 + k]));
        }
        teml_fence();
    }
}
