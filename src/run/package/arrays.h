/* Calls from Python without its headers: the functions of Python's stable interface are found when
 * the library is loaded, if there is a Python. An array that is not as the kernel takes it is left
 * to the Python side, which converts it or says why not. */
#ifdef __ELF__
typedef struct {
    void *memory, *object;
    intptr_t bytes, itemsize;
    int is_readonly, rank;
    char *format;
    intptr_t *shape, *strides, *suboffsets;
    void *internal;
} teml_buffer;

#define TEML_WEAK __attribute__((weak, visibility("default")))
int PyObject_GetBuffer(void *, teml_buffer *, int) TEML_WEAK;
void PyBuffer_Release(teml_buffer *) TEML_WEAK;
void *PyObject_Type(void *) TEML_WEAK;
void *PyObject_GetAttrString(void *, const char *) TEML_WEAK;
int PyBytes_AsStringAndSize(void *, char **, intptr_t *) TEML_WEAK;
void Py_DecRef(void *) TEML_WEAK;
void PyErr_Clear(void) TEML_WEAK;
void *PyErr_Occurred(void) TEML_WEAK;
double PyFloat_AsDouble(void *) TEML_WEAK;
long long PyLong_AsLongLong(void *) TEML_WEAK;
void *PyEval_SaveThread(void) TEML_WEAK;
void PyEval_RestoreThread(void *) TEML_WEAK;

/* NumPy's arrays, and Python's numbers. */
static void *teml_types[3];

/* A program may link several such libraries. */
TEML_API __attribute__((weak)) void teml_python(void *array, void *real, void *integer)
{
    teml_types[0] = array;
    teml_types[1] = real;
    teml_types[2] = integer;
}

/* Whether an object has a type itself, and not one derived from it. */
static int teml_is(void *object, int type)
{
    void *own = PyObject_Type(object);
    Py_DecRef(own);
    return own == teml_types[type];
}

/* The facts about entries that nothing can change, as Python's `entries` has found them, with the memory
   that they are about. */
typedef struct {
    int64_t memory, bytes, known[3];
    int are_known;
} teml_facts;

/* Reads the facts that an object has. */
static int teml_read_facts(void *object, teml_facts *facts)
{
    char *read = NULL;
    intptr_t size = 0;
    void *own = PyObject_GetAttrString(object, "_teml_facts");
    const int has = own && !PyBytes_AsStringAndSize(own, &read, &size) && size == 5 * sizeof(int64_t);
    if (has)
        for (intptr_t k = 0; k < size; k++)
            ((char *)facts)[k] = read[k];
    else
        PyErr_Clear();
    if (own)
        Py_DecRef(own);
    return has;
}

/* Takes the buffer of an array that has elements of a type in rows of whole elements. */
static int teml_take(
    teml_buffer *buffer, void *object, const char *formats, intptr_t itemsize, int rank, int writes,
    int64_t *strides, teml_facts *facts)
{
    enum { WRITABLE = 1, FORMAT = 4, STRIDES = 24 };
    if (facts)
        facts->are_known = 0;
    if (!teml_is(object, 0)) {
        if (!facts || !teml_read_facts(object, facts))
            return 0;
        facts->are_known = 1;
    }
    if (PyObject_GetBuffer(object, buffer, STRIDES | FORMAT | (writes ? WRITABLE : 0))) {
        PyErr_Clear();
        return 0;
    }
    const char *format = buffer->format;
    int fits = buffer->rank == rank && buffer->itemsize == itemsize && format && !format[1];
    fits = fits && (format[0] == formats[0] || format[0] == formats[1]);
    for (int d = 0; fits && d < rank; d++) {
        fits = buffer->strides[d] % itemsize == 0;
        strides[d] = buffer->strides[d] / itemsize;
    }
    /* A part of the entries, or others in their place, have other facts. */
    if (facts && facts->are_known)
        facts->are_known = buffer->is_readonly && facts->memory == (int64_t)(intptr_t)buffer->memory
            && facts->bytes == buffer->bytes;
    if (!fits)
        PyBuffer_Release(buffer);
    return fits;
}

static inline int teml_real(void *object, double *value)
{
    if (!teml_is(object, 1) && !teml_is(object, 2))
        return 0;
    *value = PyFloat_AsDouble(object);
    if (*value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

static inline int teml_integer(void *object, int64_t *value)
{
    if (!teml_is(object, 2))
        return 0;
    *value = PyLong_AsLongLong(object);
    if (*value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}
#endif
