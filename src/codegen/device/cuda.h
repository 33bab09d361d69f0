// The device by CUDA: its driver and its compiler are loaded when a kernel first runs.

// Memory of the device: its address there.
typedef uint64_t teml_device_buffer;

static struct {
    int is_ready, device;
    void *context, *begins, *ends;
    int (*cuInit)(unsigned);
    int (*cuDeviceGet)(int *, int);
    int (*cuDeviceGetAttribute)(int *, int, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxGetCurrent)(void **);
    int (*cuCtxGetDevice)(int *);
    int (*cuCtxSetCurrent)(void *);
    int (*cuModuleLoadData)(void **, const void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuMemAlloc_v2)(uint64_t *, size_t);
    int (*cuMemFree_v2)(uint64_t);
    int (*cuMemcpyHtoD_v2)(uint64_t, const void *, size_t);
    int (*cuMemcpyDtoH_v2)(void *, uint64_t, size_t);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          void *, void **, void **);
    int (*cuEventCreate)(void **, unsigned);
    int (*cuEventRecord)(void *, void *);
    int (*cuEventSynchronize)(void *);
    int (*cuEventElapsedTime)(float *, void *, void *);
    int (*cuGetErrorString)(int, const char **);
    int (*nvrtcCreateProgram)(void **, const char *, const char *, int, const char *const *,
                              const char *const *);
    int (*nvrtcCompileProgram)(void *, int, const char *const *);
    int (*nvrtcGetProgramLogSize)(void *, size_t *);
    int (*nvrtcGetProgramLog)(void *, char *);
    int (*nvrtcGetCUBINSize)(void *, size_t *);
    int (*nvrtcGetCUBIN)(void *, char *);
    int (*nvrtcDestroyProgram)(void **);
} teml_cuda;

static inline void teml_cuda_ask(int error, const char *what)
{
    const char *why = "unknown error";
    if (error == 0)
        return;
    if (teml_cuda.cuGetErrorString)
        teml_cuda.cuGetErrorString(error, &why);
    teml_device_fail(what, why);
}

static inline void *teml_device_library(const char *const *names, const char *brings)
{
    for (int k = 0; names[k]; k++) {
        void *library = names[k][0] ? dlopen(names[k], RTLD_NOW | RTLD_GLOBAL) : NULL;
        if (library)
            return library;
    }
    teml_device_fail(names[1], brings);
    return NULL;
}

// Finds CUDA, and the context of the caller if there is one.
static inline void teml_device_open(void)
{
    const char *own = getenv("TEML_NVRTC");
    const char *drivers[] = {"", "libcuda.so.1", NULL};
    const char *compilers[] = {own ? own : "", "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", NULL};
    void *driver, *compiler;
    if (teml_cuda.is_ready)
        return;
    driver = teml_device_library(drivers, "it comes with NVIDIA's driver");
    compiler = teml_device_library(compilers, "it comes with the CUDA toolkit, or with `pip install nvidia-cuda-nvrtc`; TEML_NVRTC names another file");
#define TEML_DRIVER(name) teml_device_symbol(driver, #name, &teml_cuda.name);
    TEML_DRIVER(cuGetErrorString) TEML_DRIVER(cuInit) TEML_DRIVER(cuDeviceGet) TEML_DRIVER(cuDeviceGetAttribute)
    TEML_DRIVER(cuDevicePrimaryCtxRetain) TEML_DRIVER(cuCtxGetCurrent) TEML_DRIVER(cuCtxGetDevice)
    TEML_DRIVER(cuCtxSetCurrent) TEML_DRIVER(cuModuleLoadData) TEML_DRIVER(cuModuleGetFunction)
    TEML_DRIVER(cuMemAlloc_v2) TEML_DRIVER(cuMemFree_v2) TEML_DRIVER(cuMemcpyHtoD_v2) TEML_DRIVER(cuMemcpyDtoH_v2)
    TEML_DRIVER(cuLaunchKernel) TEML_DRIVER(cuEventCreate) TEML_DRIVER(cuEventRecord)
    TEML_DRIVER(cuEventSynchronize) TEML_DRIVER(cuEventElapsedTime)
#undef TEML_DRIVER
#define TEML_COMPILER(name) teml_device_symbol(compiler, #name, &teml_cuda.name);
    TEML_COMPILER(nvrtcCreateProgram) TEML_COMPILER(nvrtcCompileProgram) TEML_COMPILER(nvrtcGetProgramLogSize)
    TEML_COMPILER(nvrtcGetProgramLog) TEML_COMPILER(nvrtcGetCUBINSize) TEML_COMPILER(nvrtcGetCUBIN)
    TEML_COMPILER(nvrtcDestroyProgram)
#undef TEML_COMPILER
    teml_cuda_ask(teml_cuda.cuInit(0), "cuInit");
    teml_cuda.cuCtxGetCurrent(&teml_cuda.context);
    if (teml_cuda.context) {
        teml_cuda_ask(teml_cuda.cuCtxGetDevice(&teml_cuda.device), "cuCtxGetDevice");
    } else {
        teml_cuda_ask(teml_cuda.cuDeviceGet(&teml_cuda.device, 0), "cuDeviceGet");
        teml_cuda_ask(teml_cuda.cuDevicePrimaryCtxRetain(&teml_cuda.context, teml_cuda.device), "cuDevicePrimaryCtxRetain");
    }
    teml_cuda_ask(teml_cuda.cuCtxSetCurrent(teml_cuda.context), "cuCtxSetCurrent");
    teml_cuda_ask(teml_cuda.cuEventCreate(&teml_cuda.begins, 0), "cuEventCreate");
    teml_cuda_ask(teml_cuda.cuEventCreate(&teml_cuda.ends, 0), "cuEventCreate");
    teml_cuda.is_ready = 1;
}

// Compiles a program for the device of this machine, once.
static inline void teml_device_use(teml_device_program *of)
{
    char architecture[48];
    const char *options[3];
    int major = 0, minor = 0, failed;
    size_t size = 0;
    void *program = NULL;
    char *text;
    teml_device_open();
    teml_cuda_ask(teml_cuda.cuCtxSetCurrent(teml_cuda.context), "cuCtxSetCurrent");
    if (of->module)
        return;
    teml_cuda.cuDeviceGetAttribute(&major, 75, teml_cuda.device);
    teml_cuda.cuDeviceGetAttribute(&minor, 76, teml_cuda.device);
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
    options[0] = architecture;
    options[1] = "--std=c++14";
    options[2] = "--device-as-default-execution-space";
    if (teml_cuda.nvrtcCreateProgram(&program, of->source, "kernel.cu", 0, NULL, NULL))
        teml_device_fail("nvrtcCreateProgram", "out of memory");
    failed = teml_cuda.nvrtcCompileProgram(program, 3, options);
    if (failed) {
        teml_cuda.nvrtcGetProgramLogSize(program, &size);
        text = (char *)calloc(size + 1, 1);
        if (text)
            teml_cuda.nvrtcGetProgramLog(program, text);
        teml_device_fail("CUDA C", text ? text : "out of memory");
    }
    teml_cuda.nvrtcGetCUBINSize(program, &size);
    text = (char *)malloc(size + 1);
    if (!text)
        teml_device_fail("CUDA C", "out of memory");
    teml_cuda.nvrtcGetCUBIN(program, text);
    teml_cuda_ask(teml_cuda.cuModuleLoadData(&of->module, text), "cuModuleLoadData");
    free(text);
    teml_cuda.nvrtcDestroyProgram(&program);
}

// Memory of the device, perhaps with the contents of memory of the processor.
static inline teml_device_buffer teml_device_get(const void *from, size_t bytes, int copies)
{
    teml_device_buffer buffer = 0;
    teml_cuda_ask(teml_cuda.cuMemAlloc_v2(&buffer, bytes ? bytes : 1), "cuMemAlloc");
    if (copies && bytes)
        teml_cuda_ask(teml_cuda.cuMemcpyHtoD_v2(buffer, from, bytes), "cuMemcpyHtoD");
    return buffer;
}

static inline void teml_device_put(teml_device_buffer buffer, void *to, size_t bytes)
{
    if (bytes)
        teml_cuda_ask(teml_cuda.cuMemcpyDtoH_v2(to, buffer, bytes), "cuMemcpyDtoH");
}

static inline void teml_device_free(teml_device_buffer buffer)
{
    teml_cuda_ask(teml_cuda.cuMemFree_v2(buffer), "cuMemFree");
}

// The clock starts again with the second turn, while the first one keeps the device busy.
static inline void teml_device_begin(int turn)
{
    if (turn > 1)
        return;
    teml_cuda_ask(teml_cuda.cuEventRecord(teml_cuda.begins, NULL), "cuEventRecord");
}

static inline void teml_device_end(void)
{
    float milliseconds = 0;
    teml_cuda_ask(teml_cuda.cuEventRecord(teml_cuda.ends, NULL), "cuEventRecord");
    teml_cuda_ask(teml_cuda.cuEventSynchronize(teml_cuda.ends), "the kernel");
    teml_cuda_ask(teml_cuda.cuEventElapsedTime(&milliseconds, teml_cuda.begins, teml_cuda.ends), "cuEventElapsedTime");
    teml_device_seconds += milliseconds / 1e3;
}

// Starts blocks of threads. A grid without blocks does nothing.
static inline void teml_device_launch(teml_device_program *of, const char *name, const int64_t grid[3],
                                      const unsigned block[3], void **args, const size_t *sizes, int count)
{
    void *function = NULL;
    (void)sizes;
    (void)count;
    if (grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0)
        return;
    if (grid[0] > 2147483647 || grid[1] > 65535 || grid[2] > 65535)
        teml_device_fail(name, "a grid has at most 2147483647 × 65535 × 65535 blocks");
    teml_cuda_ask(teml_cuda.cuModuleGetFunction(&function, of->module, name), "cuModuleGetFunction");
    teml_cuda_ask(teml_cuda.cuLaunchKernel(function, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], block[0],
                                           block[1], block[2], 0, NULL, args, NULL), "cuLaunchKernel");
}
