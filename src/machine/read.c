// Reads an array, in several sums so that none of them is what takes the time. Before it stand
// BYTES (of a vector register) and COUNT (of elements, a multiple of eight registers).
#include <stdint.h>

typedef double vector __attribute__((vector_size(BYTES), may_alias));

void teml_read(double out[restrict 1], const double x[restrict COUNT])
{
    const vector *from = (const vector *)x;
    out[0] = 0;
    #pragma omp parallel
    {
        vector sums[8] = {{0}};
        #pragma omp for
        for (int64_t k = 0; k < (int64_t)(COUNT / (8 * BYTES / sizeof(double))); k++) {
            for (int s = 0; s < 8; s++)
                sums[s] += from[8 * k + s];
        }
        double sum = 0;
        for (int s = 0; s < 8; s++) {
            for (int64_t lane = 0; lane < (int64_t)(BYTES / sizeof(double)); lane++)
                sum += sums[s][lane];
        }
        #pragma omp atomic
        out[0] += sum;
    }
}
