/* Kernels on rows that lie apart: tensors of the tool have no gaps. */
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

/* Memory for rows at some distances, with numbers between them that nothing may touch. */
static char *teml_rows(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                       char *dense, int64_t *bytes)
{
    int64_t span = extents[rank - 1];
    for (int d = 0; d < rank - 1; d++)
        span += (extents[d] - 1) * strides[d];
    for (int d = 0; d < rank; d++)
        if (extents[d] < 1)
            span = 0;
    *bytes = (span * size + 63) / 64 * 64 + 64;
    char *apart = (char *)aligned_alloc(64, (size_t)*bytes);
    if (!apart)
        abort();
    memset(apart, 0xff, (size_t)*bytes);
    if (span)
        teml_spread(rank, extents, strides, size, dense, apart, 0);
    return apart;
}

/* The tensor that a kernel is called with: the given one, if its rows are at these distances. */
static void *teml_apart(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                        void *dense)
{
    int64_t next = 1, bytes;
    int is_dense = 1;
    for (int d = rank - 1; d > 0; d--) {
        next *= extents[d];
        is_dense &= strides[d - 1] == next;
    }
    return is_dense ? dense : teml_rows(rank, extents, strides, size, (char *)dense, &bytes);
}

/* Copies results back, and stops if the kernel wrote between rows. */
static void teml_together(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                          void *dense, void *apart, int written, const char *name)
{
    int64_t bytes;
    if (apart == dense)
        return;
    int is_empty = 0;
    for (int d = 0; d < rank; d++)
        is_empty |= extents[d] < 1;
    if (written && !is_empty)
        teml_spread(rank, extents, strides, size, (char *)dense, (char *)apart, 1);
    char *expected = teml_rows(rank, extents, strides, size, (char *)dense, &bytes);
    if (memcmp(expected, apart, (size_t)bytes)) {
        fprintf(stderr, "%s was written between its rows\n", name);
        abort();
    }
    free(expected);
    free(apart);
}
