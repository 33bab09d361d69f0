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

static int teml_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}
