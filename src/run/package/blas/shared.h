/* What all routines share: errors, enumerations, and the arguments of kernels. */

/* Whether the caller of a routine is CBLAS, and stores matrices row after row. Programs that count
 * errors read them. */
int CBLAS_CallFromC = 0;
int RowMajorStrg = 0;

void xerbla_(const char *name, const int *position, size_t length);
void cblas_xerbla(int position, const char *name, const char *form, ...);

/* Reports a wrong argument of a routine and ends the program. A program may have its own. */
void cblas_xerbla(int position, const char *name, const char *form, ...)
{
    va_list rest;
    va_start(rest, form);
    if (position)
        fprintf(stderr, "Parameter %d to routine %s was incorrect\n", position, name);
    vfprintf(stderr, form, rest);
    va_end(rest);
    exit(-1);
}

/* The same for Fortran. CBLAS counts the order of storage as the first argument. */
void xerbla_(const char *name, const int *position, size_t length)
{
    char c_name[16] = "cblas_";
    int end = (int)(length < 8 ? length : 8);
    while (end > 0 && name[end - 1] == ' ')
        end--;
    if (!CBLAS_CallFromC) {
        fprintf(stderr, " ** On entry to %.*s parameter number %2d had an illegal value\n", end,
                name, *position);
        exit(1);
    }
    for (int k = 0; k < end; k++)
        c_name[6 + k] = (char)tolower((unsigned char)name[k]);
    cblas_xerbla(*position + 1, c_name, "");
}

/* Whether the position of a wrong argument was found, which is then reported. */
static int teml_is_wrong(const char *name, int position)
{
    if (position)
        xerbla_(name, &position, 6);
    return position != 0;
}

/* The place of a letter of any case among `letters`; -1 if it is not there. */
static int teml_letter(const char *letters, const char *given)
{
    const char *found = strchr(letters, toupper((unsigned char)*given));
    return *given && found ? (int)(found - letters) : -1;
}

/* 0 for a matrix as it is, 1 for its transpose; -1 for other letters. */
static int teml_transposed(const char *given)
{
    const int place = teml_letter("NTC", given);
    return place > 1 ? 1 : place;
}

static int teml_at_least_1(int number)
{
    return number > 1 ? number : 1;
}

static void *teml_memory(int64_t count, size_t bytes)
{
    void *memory = malloc((size_t)(count > 0 ? count : 1) * bytes);
    if (!memory) {
        fputs("BLAS: there is no memory for a copy of an argument\n", stderr);
        abort();
    }
    return memory;
}

enum {
    /* Triangles with more columns are solved and multiplied in halves. */
    TEML_SMALL = 32,
    /* Triangles of symmetric matrices with this number of columns are copied to squares. */
    TEML_FEW = 16,
    /* Results that are symmetric are computed whole up to this size. */
    TEML_WHOLE = 64,
    /* The elements of a vector that are searched at a time. */
    TEML_PART = 4096
};

/* The enumerations of CBLAS. */
enum { RowMajor = 101, ColMajor, NoTrans = 111, Trans, ConjTrans, Upper = 121, Lower, NonUnit = 131,
       Unit, Left = 141, Right };

/* Begins a routine of CBLAS. Returns whether the order of storage is known. */
static int teml_begin(int order, const char *name)
{
    RowMajorStrg = order == RowMajor;
    CBLAS_CallFromC = 1;
    if (order == RowMajor || order == ColMajor)
        return 1;
    RowMajorStrg = 0;
    cblas_xerbla(1, name, "Illegal Order setting, %d\n", order);
    CBLAS_CallFromC = 0;
    return 0;
}

static void teml_end(void)
{
    CBLAS_CallFromC = 0;
    RowMajorStrg = 0;
}

/* The letter of an enumeration, that of the opposite if it is turned; 0 after an error. */
static char teml_enumerated(int given, int first, const char *letters, int is_turned, int position,
                            const char *name, const char *what)
{
    const int count = (int)strlen(letters);
    if (given >= first && given < first + count) {
        const int place = given - first;
        return letters[is_turned ? (place == 0 ? 1 : 0) : place];
    }
    cblas_xerbla(position, name, "Illegal %s setting, %d\n", what, given);
    teml_end();
    return 0;
}

#define TEML_TRANS(given, position) \
    teml_enumerated(given, NoTrans, "NTC", RowMajorStrg, position, name, "Trans")
#define TEML_UPLO(given, position) \
    teml_enumerated(given, Upper, "UL", RowMajorStrg, position, name, "Uplo")
#define TEML_DIAG(given, position) teml_enumerated(given, NonUnit, "NU", 0, position, name, "Diag")
#define TEML_SIDE(given, position) \
    teml_enumerated(given, Left, "LR", RowMajorStrg, position, name, "Side")

/* The letter of an argument, with `_` behind its name. A wrong one ends the routine. */
#define TEML_TAKE(given, letter) \
    const char given##_ = letter; \
    if (!given##_) \
        return
