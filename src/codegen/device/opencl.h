// The device by OpenCL, whose loader is found when a kernel first runs.

#include <time.h>

// Memory of the device.
typedef void *teml_device_buffer;

static struct {
    int is_ready;
    void *device, *context, *queue;
    struct timespec begins;
    int (*clGetPlatformIDs)(unsigned, void **, unsigned *);
    int (*clGetDeviceIDs)(void *, uint64_t, unsigned, void **, unsigned *);
    void *(*clCreateContext)(const intptr_t *, unsigned, void *const *, void *, void *, int *);
    void *(*clCreateCommandQueue)(void *, void *, uint64_t, int *);
    void *(*clCreateProgramWithSource)(void *, unsigned, const char **, const size_t *, int *);
    int (*clReleaseProgram)(void *);
    int (*clBuildProgram)(void *, unsigned, void *const *, const char *, void *, void *);
    int (*clGetProgramBuildInfo)(void *, void *, unsigned, size_t, void *, size_t *);
    void *(*clCreateKernel)(void *, const char *, int *);
    int (*clReleaseKernel)(void *);
    int (*clSetKernelArg)(void *, unsigned, size_t, const void *);
    void *(*clCreateBuffer)(void *, uint64_t, size_t, void *, int *);
    int (*clReleaseMemObject)(void *);
    int (*clEnqueueWriteBuffer)(void *, void *, unsigned, size_t, size_t, const void *, unsigned, void *, void *);
    int (*clEnqueueReadBuffer)(void *, void *, unsigned, size_t, size_t, void *, unsigned, void *, void *);
    int (*clEnqueueNDRangeKernel)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned,
                                  void *, void *);
    int (*clFinish)(void *);
} teml_opencl;

static inline void teml_device_ask(int error, const char *what)
{
    char why[32];
    if (error == 0)
        return;
    snprintf(why, sizeof why, "OpenCL's error %d", error);
    teml_device_fail(what, why);
}

// Finds OpenCL and its first device, a GPU if there is one.
static inline void teml_opencl_find(void)
{
    void *library, *platforms[16], *found = NULL;
    unsigned count = 0;
    int error = 0;
    const char *own = getenv("TEML_OPENCL");
    const char *name = own ? own : "libOpenCL.so.1";
    const uint64_t kinds[] = {4, 0xFFFFFFFF};
    library = dlopen(name, RTLD_NOW);
    if (!library)
        teml_device_lack(name, "it comes with `apt install ocl-icd-libopencl1`; TEML_OPENCL names another file");
#define TEML_LOADER(name) teml_device_symbol(library, #name, &teml_opencl.name);
    TEML_LOADER(clGetPlatformIDs) TEML_LOADER(clGetDeviceIDs) TEML_LOADER(clCreateContext)
    TEML_LOADER(clCreateCommandQueue) TEML_LOADER(clCreateProgramWithSource) TEML_LOADER(clBuildProgram)
    TEML_LOADER(clReleaseProgram)
    TEML_LOADER(clGetProgramBuildInfo) TEML_LOADER(clCreateKernel) TEML_LOADER(clReleaseKernel)
    TEML_LOADER(clSetKernelArg) TEML_LOADER(clCreateBuffer) TEML_LOADER(clReleaseMemObject)
    TEML_LOADER(clEnqueueWriteBuffer) TEML_LOADER(clEnqueueReadBuffer) TEML_LOADER(clEnqueueNDRangeKernel)
    TEML_LOADER(clFinish)
#undef TEML_LOADER
    if (teml_device_failed)
        return;
    teml_opencl.clGetPlatformIDs(16, platforms, &count);
    for (int kind = 0; kind < 2 && !found; kind++)
        for (unsigned k = 0; k < count && k < 16 && !found; k++)
            if (teml_opencl.clGetDeviceIDs(platforms[k], kinds[kind], 1, &teml_opencl.device, NULL) == 0)
                found = platforms[k];
    if (!found) {
        teml_device_fail("OpenCL has no device", "`apt install pocl-opencl-icd` makes the processor one");
        return;
    }
    teml_opencl.context = teml_opencl.clCreateContext(NULL, 1, &teml_opencl.device, NULL, NULL, &error);
    TEML_TRY(error, "clCreateContext");
    if (teml_device_failed)
        return;
    teml_opencl.queue = teml_opencl.clCreateCommandQueue(teml_opencl.context, teml_opencl.device, 0, &error);
    TEML_TRY(error, "clCreateCommandQueue");
}

// Finds the device once. Without one, no kernel runs.
static inline void teml_device_open(void)
{
    if (teml_device_failed || teml_opencl.is_ready)
        return;
    teml_opencl_find();
    teml_opencl.is_ready = !teml_device_failed;
    teml_device_failed *= 2;
}

// Compiles a program for the device of this machine, once.
static inline void teml_device_use(teml_device_program *of, int is_wide)
{
    const char *const options[] = {"-w", "-w -DTEML_INDEX=int64_t"};
    int error = 0;
    size_t size = 0;
    void *program;
    char *text;
    teml_device_open();
    of->is_wide = is_wide;
    if (teml_device_failed || of->modules[is_wide])
        return;
    program = teml_opencl.clCreateProgramWithSource(teml_opencl.context, 1, &of->source, NULL, &error);
    TEML_TRY(error, "clCreateProgramWithSource");
    if (teml_device_failed)
        return;
    if (teml_opencl.clBuildProgram(program, 1, &teml_opencl.device, options[is_wide], NULL, NULL) == 0) {
        of->modules[is_wide] = program;
        return;
    }
    teml_opencl.clGetProgramBuildInfo(program, teml_opencl.device, 0x1183, 0, NULL, &size);
    text = (char *)calloc(size + 1, 1);
    if (text)
        teml_opencl.clGetProgramBuildInfo(program, teml_opencl.device, 0x1183, size, text, NULL);
    teml_device_fail("the compiler of OpenCL C refused it", text ? text : "out of memory");
    free(text);
    teml_opencl.clReleaseProgram(program);
}

// Memory of the device, perhaps with the contents of memory of the processor.
static inline teml_device_buffer teml_device_get(const void *from, size_t bytes, int copies)
{
    int error = 0;
    teml_device_buffer buffer;
    if (teml_device_failed)
        return NULL;
    buffer = teml_opencl.clCreateBuffer(teml_opencl.context, 1, bytes ? bytes : 1, NULL, &error);
    TEML_TRY(error, "clCreateBuffer");
    if (copies && bytes)
        TEML_TRY(teml_opencl.clEnqueueWriteBuffer(teml_opencl.queue, buffer, 1, 0, bytes, from, 0, NULL, NULL), "clEnqueueWriteBuffer");
    return buffer;
}

static inline void teml_device_put(teml_device_buffer buffer, void *to, size_t bytes)
{
    if (bytes)
        TEML_TRY(teml_opencl.clEnqueueReadBuffer(teml_opencl.queue, buffer, 1, 0, bytes, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}

static inline void teml_device_free(teml_device_buffer buffer)
{
    int error = buffer ? teml_opencl.clReleaseMemObject(buffer) : 0;
    TEML_TRY(error, "clReleaseMemObject");
}

// The clock starts again with the second turn.
static inline void teml_device_begin(int turn)
{
    if (turn > 1)
        return;
    TEML_TRY(teml_opencl.clFinish(teml_opencl.queue), "clFinish");
    timespec_get(&teml_opencl.begins, TIME_UTC);
}

static inline void teml_device_end(void)
{
    struct timespec ends;
    TEML_TRY(teml_opencl.clFinish(teml_opencl.queue), "the kernel");
    timespec_get(&ends, TIME_UTC);
    teml_device_seconds += (double)(ends.tv_sec - teml_opencl.begins.tv_sec);
    teml_device_seconds += 1e-9 * (double)(ends.tv_nsec - teml_opencl.begins.tv_nsec);
}

// Starts blocks of threads. A grid without blocks does nothing.
static inline void teml_device_launch(teml_device_program *of, const char *name, const int64_t grid[3],
                                      const unsigned block[3], void **args, const size_t *sizes, int count)
{
    int error = 0;
    size_t global[3], local[3];
    void *kernel;
    if (teml_device_failed || grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0)
        return;
    for (int d = 0; d < 3; d++) {
        local[d] = block[d];
        global[d] = (size_t)grid[d] * block[d];
    }
    kernel = teml_opencl.clCreateKernel(of->modules[of->is_wide], name, &error);
    TEML_TRY(error, "clCreateKernel");
    for (int k = 0; k < count; k++)
        TEML_TRY(teml_opencl.clSetKernelArg(kernel, (unsigned)k, sizes[k], args[k]), "clSetKernelArg");
    TEML_TRY(teml_opencl.clEnqueueNDRangeKernel(teml_opencl.queue, kernel, 3, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    if (kernel)
        teml_opencl.clReleaseKernel(kernel);
}
