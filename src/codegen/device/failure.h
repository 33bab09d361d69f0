// Why a device failed. A call that fails computes nothing more, and frees the memory that it took.
#include <stdio.h>
#include <stdlib.h>

// 1 after a failure of a kernel, and 2 where no device can run kernels.
__attribute__((weak, visibility("default"))) int teml_device_failed = 0;

// The reason.
__attribute__((weak, visibility("default"))) char teml_device_reason[4096] = "";

// Whether the caller reads both. Otherwise a failure ends the program, since there is no result.
__attribute__((weak, visibility("default"))) int teml_device_asks = 0;

// The reason why the last call failed, or NULL. The next call starts anew.
static inline const char *teml_device_why(void)
{
    const int failed = teml_device_failed;
    teml_device_failed = teml_device_asks = 0;
    return failed ? teml_device_reason : NULL;
}
