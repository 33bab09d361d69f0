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

/* The bytes of a tensor, or -1 if there are too many. */
static int64_t teml_bytes(int rank, const int64_t *extents, int64_t size)
{
    for (int d = 0; d < rank; d++)
        if (extents[d] < 0 || __builtin_mul_overflow(size, extents[d], &size))
            return -1;
    return size;
}

static int teml_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}
