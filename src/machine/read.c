// Reads an array, in several sums so that none of them is what takes the time, and in two places
// at a time, which prefetchers follow better. Before it stand BYTES (of a vector register) and
// COUNT (of elements, a multiple of eight registers).
#include <stdint.h>

typedef double vector __attribute__((vector_size(BYTES), aligned(8), may_alias));

void teml_read(double out[restrict 1], const double x[restrict COUNT])
{
    out[0] = 0;
    #pragma omp parallel
    {
        const int64_t lanes = BYTES / sizeof(double);
        vector sums[8] = {{0}};
        #pragma omp for
        for (int64_t k = 0; k < COUNT / 2; k += 4 * lanes) {
            for (int s = 0; s < 4; s++) {
                sums[s] += *(const vector *)&x[k + s * lanes];
                sums[s + 4] += *(const vector *)&x[COUNT / 2 + k + s * lanes];
            }
        }
        double sum = 0;
        for (int s = 0; s < 8; s++) {
            for (int64_t lane = 0; lane < lanes; lane++)
                sum += sums[s][lane];
        }
        #pragma omp atomic
        out[0] += sum;
    }
}
