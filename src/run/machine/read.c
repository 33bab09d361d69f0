// Reads the first count[0] elements of an array, each thread a part of its own, in several sums so
// that none of them is what takes the time, and in two places at a time, which prefetchers follow
// better. Before it stand BYTES (of a vector register) and SIZE (elements of the array). The count
// is a multiple of eight registers.
#include <stdint.h>

typedef double vector __attribute__((vector_size(BYTES), aligned(8), may_alias));

void teml_read(double out[restrict 1], const double x[restrict SIZE], const double count[restrict 1])
{
    const int64_t half = (int64_t)count[0] / 2;
    out[0] = 0;
    #pragma omp parallel
    {
        const int64_t lanes = BYTES / sizeof(double);
        vector sums[8] = {{0}};
        #pragma omp for
        for (int64_t k = 0; k < half; k += 4 * lanes) {
            for (int s = 0; s < 4; s++) {
                sums[s] += *(const vector *)&x[k + s * lanes];
                sums[s + 4] += *(const vector *)&x[half + k + s * lanes];
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
