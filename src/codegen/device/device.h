// Kernels of a device. A failure is printed, and ends the program: there is no result. One thread at a
// time may call such kernels.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The seconds that the device computed, in all calls together.
__attribute__((weak, visibility("default"))) double teml_device_seconds = 0;

// How often a function computes in a call. More than once is for measurements: then the first turn
// does not count.
__attribute__((weak, visibility("default"))) int teml_device_turns = 1;

// A program for the device, and what its compiler made of it.
typedef struct teml_device_program {
    const char *source;
    void *module;
} teml_device_program;

static inline void teml_device_fail(const char *what, const char *why)
{
    fprintf(stderr, "teml: the device cannot run the kernel: %s: %s\n", what, why);
    fflush(stderr);
    abort();
}

static inline void teml_device_symbol(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);
    if (!found)
        teml_device_fail(name, "the library does not have this function");
    memcpy(to, &found, sizeof found);
}
