// As many multiplications and additions as the processor can do: sums that do not depend on each
// other, in all vector registers but those of the two operands. Before it stand ELEM, BYTES (of a
// register), MANY (whether there are 32 registers), ROUNDS.
#include <stdint.h>

typedef ELEM vector __attribute__((vector_size(BYTES)));

#if MANY
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) \
    X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#else
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#endif

void teml_fma(ELEM out[restrict 1], const ELEM in[restrict 2])
{
    out[0] = 0;
    #pragma omp parallel
    {
        const vector factor = (vector){0} + in[0], term = (vector){0} + in[1];
#define START(k) vector sum##k = term * (ELEM)k;
        EACH(START)
        for (int64_t round = 0; round < ROUNDS; round++) {
#define STEP(k) sum##k = sum##k * factor + term;
            EACH(STEP)
        }
        vector total = {0};
#define ADD(k) total += sum##k;
        EACH(ADD)
        ELEM sum = 0;
        for (int64_t lane = 0; lane < (int64_t)(BYTES / sizeof(ELEM)); lane++)
            sum += total[lane];
        #pragma omp atomic
        out[0] += sum;
    }
}
