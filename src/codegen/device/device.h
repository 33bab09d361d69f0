// Kernels of a device. One thread at a time may call them.
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

// The seconds that the device computed, in all calls together.
__attribute__((weak, visibility("default"))) double teml_device_seconds = 0;

// How often a function computes in a call. More than once is for measurements: then the first turn
// does not count.
__attribute__((weak, visibility("default"))) int teml_device_turns = 1;

// A program for the device, and what its compiler made of it with indices of 32 and of 64 bits. One of
// them is used.
typedef struct teml_device_program {
    const char *source;
    void *modules[2];
    int is_wide;
} teml_device_program;

// The greatest number of 32 bits.
#ifndef TEML_NARROW
#define TEML_NARROW 2147483647
#endif

// Whether a number, perhaps a product, is between -most and most. Both are exact if they fit.
static inline int teml_device_fits(double number, double most)
{
    if (most > TEML_NARROW)
        most = TEML_NARROW;
    return -most <= number && number <= most;
}

// Keeps the first reason why a call fails.
static inline void teml_device_fail(const char *what, const char *why)
{
    if (teml_device_failed)
        return;
    teml_device_failed = 1;
    snprintf(teml_device_reason, sizeof teml_device_reason, "%s: %s", what, why);
}

// Without a library, no kernel runs.
static inline void teml_device_lack(const char *library, const char *brings)
{
    char what[512];
    snprintf(what, sizeof what, "%s cannot be loaded", library);
    teml_device_fail(what, brings);
}

// The end of a call.
static inline void teml_device_leave(void)
{
    if (!teml_device_failed || teml_device_asks)
        return;
    fprintf(stderr, "teml: the device cannot run the kernel: %s\n", teml_device_reason);
    fflush(stderr);
    abort();
}

// Calls what returns an error, as long as nothing has failed.
#define TEML_TRY(call, what) \
    do { \
        if (!teml_device_failed) \
            teml_device_ask(call, what); \
    } while (0)

static inline void teml_device_symbol(void *library, const char *name, void *to)
{
    void *found = teml_device_failed ? NULL : dlsym(library, name);
    if (!found)
        teml_device_fail(name, "the library does not have this function");
    memcpy(to, &found, sizeof found);
}
