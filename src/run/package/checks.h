/* Whether tensors are as a kernel takes them. */

/* Strides in elements, as those of rows after rows; NULL states that they are. */
static int teml_is_row_major(int rank, const int64_t *extents, const int64_t *strides)
{
    int64_t next = 1;
    if (!strides)
        return 1;
    for (int d = rank - 1; d >= 0; d--) {
        if (extents[d] != 1 && strides[d] != next)
            return 0;
        next *= extents[d];
    }
    return 1;
}

static int teml_is_empty(int rank, const int64_t *extents)
{
    for (int d = 0; d < rank; d++)
        if (extents[d] < 1)
            return 1;
    return 0;
}

/* Whether the elements of a row, of `size` bytes each, are adjacent, and rows do not overlap. The
 * bytes from the first element to the last one have to be counted. */
static int teml_has_rows(int rank, const int64_t *extents, const int64_t *strides, int64_t size)
{
    int64_t next = 1, row;
    if (!strides || teml_is_empty(rank, extents))
        return 1;
    for (int d = rank - 1; d >= 0; d--) {
        if (extents[d] > 1) {
            if (d == rank - 1 ? strides[d] != 1 : strides[d] < next)
                return 0;
            row = strides[d];
        } else
            row = next;
        if (__builtin_mul_overflow(row, extents[d] > 1 ? extents[d] : 1, &next))
            return 0;
    }
    return !__builtin_mul_overflow(next, size, &next);
}

/* A distance without its direction. */
static int64_t teml_length(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Whether elements of `size` bytes each, at any distances, can be read, or written: then each has a
 * place of its own, since each distance is at least what the shorter ones span. The bytes from the
 * lowest element to the highest one have to be counted. */
static int teml_is_apart(int rank, const int64_t *extents, const int64_t *strides, int64_t size,
                         int written)
{
    int64_t all = 1, reach;
    if (!strides || teml_is_empty(rank, extents))
        return 1;
    for (int d = 0; d < rank; d++)
        if (strides[d] == INT64_MIN
            || __builtin_mul_overflow(extents[d] - 1, teml_length(strides[d]), &reach)
            || __builtin_add_overflow(all, reach, &all))
            return 0;
    for (int d = 0; written && d < rank; d++) {
        const int64_t own = teml_length(strides[d]);
        int64_t span = 1;
        for (int e = 0; e < rank; e++) {
            const int64_t other = teml_length(strides[e]);
            if (other < own || (other == own && e < d))
                span += (extents[e] - 1) * other;
        }
        if (extents[d] > 1 && own < span)
            return 0;
    }
    return !__builtin_mul_overflow(all, size, &all);
}

/* The distance between consecutive indices of a dimension, in elements. */
static int64_t teml_stride(int rank, const int64_t *extents, const int64_t *strides, int d)
{
    int64_t next = 1;
    if (strides)
        return strides[d];
    for (d++; d < rank; d++)
        next *= extents[d];
    return next;
}

/* The bytes from the lowest element to the highest one. */
static int64_t teml_reach(int rank, const int64_t *extents, const int64_t *strides, int64_t size)
{
    int64_t last = 0;
    if (teml_is_empty(rank, extents))
        return 0;
    for (int d = 0; d < rank; d++)
        last += (extents[d] - 1) * teml_length(teml_stride(rank, extents, strides, d));
    return (last + 1) * size;
}

/* The lowest element: distances may be negative. */
static const void *teml_lowest(const void *first, int rank, const int64_t *extents,
                               const int64_t *strides, int64_t size)
{
    int64_t before = 0;
    for (int d = 0; d < rank; d++) {
        const int64_t stride = teml_stride(rank, extents, strides, d);
        if (extents[d] > 0 && stride < 0)
            before += (extents[d] - 1) * stride;
    }
    return (const char *)first + before * size;
}

/* The bytes of a tensor, or -1 if there are too many. Distances between the rows of an empty tensor
 * are counted as well. */
static int64_t teml_bytes(int rank, const int64_t *extents, int64_t size)
{
    int empty = 0;
    for (int d = 0; d < rank; d++) {
        empty |= extents[d] == 0;
        if (extents[d] < 0 || __builtin_mul_overflow(size, extents[d] ? extents[d] : 1, &size))
            return -1;
    }
    return empty ? 0 : size;
}

static int teml_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}
