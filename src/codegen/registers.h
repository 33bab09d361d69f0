// A vector that is loaded here: gcc would read it from memory wherever it is used, and what crosses
// lines of the cache takes longer each time.
#if (defined(__x86_64__) || defined(__i386__)) && defined(__SSE2__) && !defined(__clang__)
#define TEML_HELD(v) __asm__("" : "+v"(v))
#else
#define TEML_HELD(v)
#endif

static inline __attribute__((always_inline)) teml_f64xn teml_f64xn_held(teml_f64xn v)
{
    TEML_HELD(v);
    return v;
}

static inline __attribute__((always_inline)) teml_f32xn teml_f32xn_held(teml_f32xn v)
{
    TEML_HELD(v);
    return v;
}

static inline __attribute__((always_inline)) teml_i64xn teml_i64xn_held(teml_i64xn v)
{
    TEML_HELD(v);
    return v;
}

static inline __attribute__((always_inline)) teml_i32xn teml_i32xn_held(teml_i32xn v)
{
    TEML_HELD(v);
    return v;
}
