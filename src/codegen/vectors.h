// The bytes of the widest vector.
#define TEML_WIDEST 64

#if TEML_WIDEST >= 64 && defined(__AVX512F__)
#define TEML_VECTOR 64
#elif TEML_WIDEST >= 32 && defined(__AVX__)
#define TEML_VECTOR 32
#else
#define TEML_VECTOR 16
#endif

// As many neighbors as a register holds, or a fixed number of them.
typedef double teml_f64xn __attribute__((vector_size(TEML_VECTOR), aligned(8), may_alias));

typedef double teml_f64x2 __attribute__((vector_size(16), aligned(8), may_alias));

typedef double teml_f64x4 __attribute__((vector_size(32), aligned(8), may_alias));

typedef double teml_f64x8 __attribute__((vector_size(64), aligned(8), may_alias));

typedef float teml_f32xn __attribute__((vector_size(TEML_VECTOR), aligned(4), may_alias));

typedef float teml_f32x2 __attribute__((vector_size(8), aligned(4), may_alias));

typedef float teml_f32x4 __attribute__((vector_size(16), aligned(4), may_alias));

typedef float teml_f32x8 __attribute__((vector_size(32), aligned(4), may_alias));

typedef float teml_f32x16 __attribute__((vector_size(64), aligned(4), may_alias));

typedef int64_t teml_i64xn __attribute__((vector_size(TEML_VECTOR), aligned(8), may_alias));

typedef int64_t teml_i64x2 __attribute__((vector_size(16), aligned(8), may_alias));

typedef int64_t teml_i64x4 __attribute__((vector_size(32), aligned(8), may_alias));

typedef int64_t teml_i64x8 __attribute__((vector_size(64), aligned(8), may_alias));

typedef int32_t teml_i32xn __attribute__((vector_size(TEML_VECTOR), aligned(4), may_alias));

typedef int32_t teml_i32x2 __attribute__((vector_size(8), aligned(4), may_alias));

typedef int32_t teml_i32x4 __attribute__((vector_size(16), aligned(4), may_alias));

typedef int32_t teml_i32x8 __attribute__((vector_size(32), aligned(4), may_alias));

typedef int32_t teml_i32x16 __attribute__((vector_size(64), aligned(4), may_alias));

// Builtin functions take these as 64-bit integers.
typedef long long teml_longs __attribute__((vector_size(TEML_VECTOR), aligned(8), may_alias));

enum { TEML_F64XN = TEML_VECTOR / 8 };

enum { TEML_F32XN = TEML_VECTOR / 4 };

enum { TEML_I64XN = TEML_VECTOR / 8 };

enum { TEML_I32XN = TEML_VECTOR / 4 };

// The vector of an element and its neighbors.
#define f64xn(x) (*(teml_f64xn *)&(x))

#define f64x2(x) (*(teml_f64x2 *)&(x))

#define f64x4(x) (*(teml_f64x4 *)&(x))

#define f64x8(x) (*(teml_f64x8 *)&(x))

#define f32xn(x) (*(teml_f32xn *)&(x))

#define f32x2(x) (*(teml_f32x2 *)&(x))

#define f32x4(x) (*(teml_f32x4 *)&(x))

#define f32x8(x) (*(teml_f32x8 *)&(x))

#define f32x16(x) (*(teml_f32x16 *)&(x))

#define i64xn(x) (*(teml_i64xn *)&(x))

#define i64x2(x) (*(teml_i64x2 *)&(x))

#define i64x4(x) (*(teml_i64x4 *)&(x))

#define i64x8(x) (*(teml_i64x8 *)&(x))

#define i32xn(x) (*(teml_i32xn *)&(x))

#define i32x2(x) (*(teml_i32x2 *)&(x))

#define i32x4(x) (*(teml_i32x4 *)&(x))

#define i32x8(x) (*(teml_i32x8 *)&(x))

#define i32x16(x) (*(teml_i32x16 *)&(x))

// What comes next is loaded here: compilers would do so before loops above, which need all registers.
static inline __attribute__((always_inline)) void teml_load_here(void)
{
    __asm__ volatile("" ::: "memory");
}

// Stores past the caches, where compilers know how: 16 bytes, and as many as a register holds.
typedef double teml_16 __attribute__((vector_size(16), may_alias));

typedef double teml_32 __attribute__((vector_size(32), may_alias));

typedef double teml_64 __attribute__((vector_size(64), may_alias));

#if defined(__clang__)
#define TEML_PAST(type, to, from) __builtin_nontemporal_store(*(const type *)(from), (type *)(to))
#elif defined(__SSE2__)
#define TEML_MOVNT_teml_16 __builtin_ia32_movntpd
#define TEML_MOVNT_teml_32 __builtin_ia32_movntpd256
#define TEML_MOVNT_teml_64 __builtin_ia32_movntpd512
#define TEML_PAST(type, to, from) TEML_MOVNT_##type((double *)(to), *(const type *)(from))
#else
#define TEML_PAST(type, to, from) (*(type *)(to) = *(const type *)(from))
#endif

static inline __attribute__((always_inline)) void teml_stream(char *to, const char *from, int bytes)
{
    for (int k = 0; k < bytes;) {
#if TEML_VECTOR >= 64
        if (bytes - k >= 64) {
            TEML_PAST(teml_64, to + k, from + k);
            k += 64;
            continue;
        }
#endif
#if TEML_VECTOR >= 32
        if (bytes - k >= 32) {
            TEML_PAST(teml_32, to + k, from + k);
            k += 32;
            continue;
        }
#endif
        TEML_PAST(teml_16, to + k, from + k);
        k += 16;
    }
}

// Whether it starts where such a store may; vectors of 8 bytes never do.
#define TEML_ALIGNED(x) \
    (sizeof(x) >= 16 && (uintptr_t)&(x) % (sizeof(x) < TEML_VECTOR ? sizeof(x) : TEML_VECTOR) == 0)

#define TEML_STREAM(x, value) \
    do { \
        const __typeof__(x) teml_v __attribute__((aligned(TEML_VECTOR))) = (value); \
        if (TEML_ALIGNED(x)) \
            teml_stream((char *)&(x), (const char *)&teml_v, sizeof teml_v); \
        else \
            (x) = teml_v; \
    } while (0)

// Where all vectors do if the tensor itself does, which is asked once.
#define TEML_STREAM_IF(all, x, value) \
    do { \
        const __typeof__(x) teml_v __attribute__((aligned(TEML_VECTOR))) = (value); \
        if (all) \
            teml_stream((char *)&(x), (const char *)&teml_v, sizeof teml_v); \
        else \
            (x) = teml_v; \
    } while (0)

// -DTEML_ALIGNED_TENSORS promises that every tensor is aligned to 64 bytes.
#if defined(TEML_ALIGNED_TENSORS)
#define TEML_IS_ALIGNED(tensor) 1
#else
#define TEML_IS_ALIGNED(tensor) ((uintptr_t)(tensor) % 64 == 0)
#endif

// Copies neighbors past the caches: whole vectors, from the first on that starts where such a store
// may. What is before and after them is stored as usual.
static inline void teml_copy_past(char *to, const char *from, int64_t bytes)
{
    int64_t k = 0;
    for (; k < bytes && (uintptr_t)(to + k) % TEML_VECTOR != 0; k += 4)
        __builtin_memcpy(to + k, from + k, 4);
    for (; k + TEML_VECTOR <= bytes; k += TEML_VECTOR) {
        const teml_f32xn teml_v __attribute__((aligned(TEML_VECTOR))) = *(const teml_f32xn *)(from + k);
        teml_stream(to + k, (const char *)&teml_v, TEML_VECTOR);
    }
    for (; k < bytes; k += 4)
        __builtin_memcpy(to + k, from + k, 4);
}

// Other threads see those stores once the one that made them has passed here.
static inline void teml_fence(void)
{
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
