/* The workspace of a kernel: its intermediate tensors, one after the other. */

/* The bytes up to the end of a tensor that begins after `before` bytes, in whole units; -1 if there are
   too many. */
static int64_t teml_after(int64_t before, int64_t bytes, int64_t unit)
{
    int64_t end;
    if (before < 0 || bytes < 0 || __builtin_add_overflow(before, bytes, &end)
        || __builtin_add_overflow(end, unit - 1, &end))
        return -1;
    return end / unit * unit;
}

/* The first address in a workspace that is a multiple of a unit. */
static char *teml_first(void *workspace, int64_t unit)
{
    return (char *)workspace + -(uintptr_t)workspace % (uintptr_t)unit;
}
