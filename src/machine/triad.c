// Reads two arrays and writes one. Before it stands COUNT.
#include <stdint.h>

void teml_triad(double a[restrict COUNT], const double b[restrict COUNT], const double c[restrict COUNT])
{
    #pragma omp parallel for simd
    for (int64_t k = 0; k < COUNT; k++)
        a[k] = b[k] + 3.0 * c[k];
}
