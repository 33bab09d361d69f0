// A driver and a compiler of CUDA without a device: their memory is that of the processor. Their only
// kernel is `twice_1`, which doubles N numbers. It counts copies between memories, and pieces of memory.
// The environment variable FAILS names what fails. `wide` counts compilations for indices of 64 bits.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int copies = 0, synchronized = 0, pieces = 0, wide = 0;

static int fails(const char *what, int error)
{
    const char *named = getenv("FAILS");
    return named && !strcmp(named, what) ? error : 0;
}

int cuInit(unsigned flags) { return fails("init", 100); }
int cuDeviceGet(int *device, int number) { return *device = 0; }
int cuDeviceGetAttribute(int *value, int of, int device) { return *value = 8, 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &copies, 0; }
int cuCtxGetCurrent(void **context) { return *context = NULL, 0; }
int cuCtxGetDevice(int *device) { return *device = 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuModuleLoadData(void **module, const void *data) { return *module = &copies, 0; }
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = (void *)name;
    return strcmp(name, "twice_1") ? 500 : 0;
}
int cuMemAlloc_v2(uint64_t *to, size_t bytes)
{
    const int error = pieces ? fails("memory", 2) : 0;
    if (!error)
        *to = (uint64_t)(uintptr_t)malloc(bytes), pieces++;
    return error;
}
int cuMemFree_v2(uint64_t memory) { return free((void *)(uintptr_t)memory), pieces--, 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    copies++;
    return memcpy((void *)(uintptr_t)to, from, bytes), 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    copies++;
    return memcpy(to, (void *)(uintptr_t)from, bytes), 0;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **args, void **extra)
{
    if (fails("launch", 701))
        return 701;
    const int64_t n = *(int64_t *)args[0];
    double *to = *(double **)args[1];
    const double *from = *(double **)args[2];
    for (int64_t i = 0; i < n; i++)
        to[i] = 2 * from[i];
    return 0;
}
int cuEventCreate(void **event, unsigned flags) { return *event = &copies, 0; }
int cuEventRecord(void *event, void *stream) { return 0; }
int cuEventSynchronize(void *event) { return 0; }
int cuEventElapsedTime(float *milliseconds, void *begins, void *ends) { return *milliseconds = 1, 0; }
int cuGetErrorString(int error, const char **text)
{
    *text = error == 2 ? "out of memory" : error == 100 ? "no CUDA-capable device is detected"
        : error == 701 ? "too many resources requested for launch" : "no such kernel";
    return 0;
}
int cuStreamSynchronize(void *stream) { return synchronized = (int)(intptr_t)stream, 0; }

int nvrtcCreateProgram(void **program, const char *source, const char *name, int count,
                       const char *const *headers, const char *const *names) { return *program = &copies, 0; }
int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    for (int k = 0; k < count; k++)
        wide += strcmp(options[k], "-DTEML_INDEX=int64_t") == 0;
    return fails("compile", 6);
}
int nvrtcGetProgramLogSize(void *program, size_t *size) { return *size = 64, 0; }
int nvrtcGetProgramLog(void *program, char *log) { return strcpy(log, "kernel(3): error: expected a \";\"\n"), 0; }
int nvrtcGetCUBINSize(void *program, size_t *size) { return *size = 0, 0; }
int nvrtcGetCUBIN(void *program, char *binary) { return 0; }
int nvrtcDestroyProgram(void **program) { return 0; }
