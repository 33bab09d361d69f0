/* Kernels on tensors that lie apart in memory: tensors of the tool have no gaps. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies a tensor to rows at some distances, or back. */
static void teml_spread(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                        char *dense, char *apart, int back)
{
    int64_t row = size;
    if (rank == 1) {
        memcpy(back ? dense : apart, back ? apart : dense, (size_t)(extents[0] * size));
        return;
    }
    for (int d = 1; d < rank; d++)
        row *= extents[d];
    for (int64_t k = 0; k < extents[0]; k++)
        teml_spread(rank - 1, extents + 1, strides + 1, size, dense + k * row,
                    apart + k * strides[0] * size, back);
}

/* The bytes of rows at some distances, and before their first element: distances may be negative. */
static int64_t teml_span(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                         int64_t *before)
{
    int64_t span = extents[rank - 1];
    *before = 0;
    for (int d = 0; d < rank; d++)
        if (extents[d] < 1)
            return 0;
    for (int d = 0; d < rank - 1; d++) {
        const int64_t reach = (extents[d] - 1) * strides[d] * size;
        *before -= reach < 0 ? reach : 0;
        span += (extents[d] - 1) * (strides[d] < 0 ? -strides[d] : strides[d]);
    }
    return span * size;
}

/* Memory for rows at some distances, with numbers between them that nothing may touch, and where
 * its first element is. */
static char *teml_rows(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                       char *dense, int64_t *bytes, int64_t *before)
{
    const int64_t span = teml_span(rank, extents, strides, size, before);
    *bytes = (span + 63) / 64 * 64 + 64;
    char *apart = (char *)aligned_alloc(64, (size_t)*bytes);
    if (!apart)
        abort();
    memset(apart, 0xff, (size_t)*bytes);
    if (span)
        teml_spread(rank, extents, strides, size, dense, apart + *before, 0);
    return apart;
}

/* The tensor that a kernel is called with: the given one, if its rows are at these distances. */
static void *teml_apart(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                        void *dense)
{
    int64_t next = 1, bytes, before;
    int is_dense = 1;
    for (int d = rank - 1; d > 0; d--) {
        next *= extents[d];
        is_dense &= strides[d - 1] == next;
    }
    if (is_dense)
        return dense;
    char *const apart = teml_rows(rank, extents, strides, size, (char *)dense, &bytes, &before);
    return apart + before;
}

/* Copies results back, and stops if the kernel wrote between rows. */
static void teml_together(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                          void *dense, void *apart, int written, const char *name)
{
    int64_t bytes, before;
    if (apart == dense)
        return;
    if (written && teml_span(rank, extents, strides, size, &before))
        teml_spread(rank, extents, strides, size, (char *)dense, (char *)apart, 1);
    char *expected = teml_rows(rank, extents, strides, size, (char *)dense, &bytes, &before);
    if (memcmp(expected, (char *)apart - before, (size_t)bytes)) {
        fprintf(stderr, "%s was written between its elements\n", name);
        abort();
    }
    free(expected);
    free((char *)apart - before);
}
