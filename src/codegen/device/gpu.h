// The device by CUDA or HIP: its driver and its compiler are loaded when a kernel first runs. Both
// have the same functions under different names, of which TEML_OF chooses.

// Memory of the device: its address there.
typedef uint64_t teml_device_buffer;

#define TEML_NAME(cuda, hip) TEML_OF(#cuda, #hip)

static struct {
    int is_ready, device;
    void *context, *begins, *ends;
    int (*init)(unsigned);
    int (*get_device)(int *, int);
    int (*get_attribute)(int *, int, int);
    int (*get_context)(void **, int);
    int (*get_current)(void **);
    int (*get_own_device)(int *);
    int (*set_current)(void *);
    int (*load)(void **, const void *);
    int (*get_function)(void **, void *, const char *);
    int (*allocate)(uint64_t *, size_t);
    int (*release)(uint64_t);
    int (*copy_there)(uint64_t, const void *, size_t);
    int (*copy_back)(void *, uint64_t, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          void *, void **, void **);
    int (*create_event)(void **, unsigned);
    int (*record)(void *, void *);
    int (*wait)(void *);
    int (*elapsed)(float *, void *, void *);
    void *get_error;
    int (*create)(void **, const char *, const char *, int, const char *const *,
                              const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*get_log_size)(void *, size_t *);
    int (*get_log)(void *, char *);
    int (*get_code_size)(void *, size_t *);
    int (*get_code)(void *, char *);
    int (*destroy)(void **);
} teml_gpu;

static inline void teml_device_ask(int error, const char *what)
{
    const char *why = "unknown error";
    if (error == 0)
        return;
    if (teml_gpu.get_error)
        TEML_OF(((int (*)(int, const char **))teml_gpu.get_error)(error, &why), why = ((const char *(*)(int))teml_gpu.get_error)(error));
    teml_device_fail(what, why);
}

// The first library that is there. Names end with NULL; the first one may be left out.
static inline void *teml_device_library(const char *const *names, const char *brings)
{
    void *library = names[0] ? dlopen(names[0], RTLD_NOW | RTLD_GLOBAL) : NULL;
    for (int k = 1; names[k] && !library; k++)
        library = dlopen(names[k], RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        teml_device_lack(names[names[0] ? 0 : 1], brings);
    return library;
}

// Finds the driver and the compiler, and the context of the caller if there is one.
static inline void teml_gpu_find(void)
{
    const char *own = getenv(TEML_OF("TEML_NVRTC", "TEML_HIPRTC"));
    const char *drivers[] = {NULL, TEML_DRIVERS, NULL};
    const char *compilers[] = {own, TEML_COMPILERS, NULL};
    void *driver, *compiler;
    driver = teml_device_library(drivers, TEML_OF("it comes with NVIDIA's driver", "it comes with ROCm"));
    compiler = teml_device_library(compilers, TEML_OF(
        "it comes with the CUDA toolkit, or with `pip install nvidia-cuda-nvrtc`; TEML_NVRTC names another file",
        "it comes with ROCm; TEML_HIPRTC names another file"));
#define TEML_DRIVER(of, cuda, hip) teml_device_symbol(driver, TEML_NAME(cuda, hip), &teml_gpu.of);
    TEML_DRIVER(get_error, cuGetErrorString, hipGetErrorString)
    TEML_DRIVER(init, cuInit, hipInit)
    TEML_DRIVER(get_attribute, cuDeviceGetAttribute, hipDeviceGetAttribute)
    TEML_DRIVER(get_device, cuDeviceGet, hipDeviceGet)
    TEML_DRIVER(get_context, cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain)
    TEML_DRIVER(get_current, cuCtxGetCurrent, hipCtxGetCurrent)
    TEML_DRIVER(get_own_device, cuCtxGetDevice, hipCtxGetDevice)
    TEML_DRIVER(set_current, cuCtxSetCurrent, hipCtxSetCurrent)
    TEML_DRIVER(load, cuModuleLoadData, hipModuleLoadData)
    TEML_DRIVER(get_function, cuModuleGetFunction, hipModuleGetFunction)
    TEML_DRIVER(allocate, cuMemAlloc_v2, hipMalloc)
    TEML_DRIVER(release, cuMemFree_v2, hipFree)
    TEML_DRIVER(copy_there, cuMemcpyHtoD_v2, hipMemcpyHtoD)
    TEML_DRIVER(copy_back, cuMemcpyDtoH_v2, hipMemcpyDtoH)
    TEML_DRIVER(launch, cuLaunchKernel, hipModuleLaunchKernel)
    TEML_DRIVER(create_event, cuEventCreate, hipEventCreateWithFlags)
    TEML_DRIVER(record, cuEventRecord, hipEventRecord)
    TEML_DRIVER(wait, cuEventSynchronize, hipEventSynchronize)
    TEML_DRIVER(elapsed, cuEventElapsedTime, hipEventElapsedTime)
#undef TEML_DRIVER
#define TEML_COMPILER(of, cuda, hip) teml_device_symbol(compiler, TEML_NAME(cuda, hip), &teml_gpu.of);
    TEML_COMPILER(create, nvrtcCreateProgram, hiprtcCreateProgram)
    TEML_COMPILER(compile, nvrtcCompileProgram, hiprtcCompileProgram)
    TEML_COMPILER(get_log_size, nvrtcGetProgramLogSize, hiprtcGetProgramLogSize)
    TEML_COMPILER(get_log, nvrtcGetProgramLog, hiprtcGetProgramLog)
    TEML_COMPILER(get_code_size, nvrtcGetCUBINSize, hiprtcGetCodeSize)
    TEML_COMPILER(get_code, nvrtcGetCUBIN, hiprtcGetCode)
    TEML_COMPILER(destroy, nvrtcDestroyProgram, hiprtcDestroyProgram)
#undef TEML_COMPILER
    TEML_TRY(teml_gpu.init(0), TEML_OF("cuInit, which finds the devices that `nvidia-smi` lists",
                                       "hipInit, which finds the devices that `rocminfo` lists"));
    if (!teml_device_failed)
        teml_gpu.get_current(&teml_gpu.context);
    if (teml_gpu.context) {
        TEML_TRY(teml_gpu.get_own_device(&teml_gpu.device), TEML_NAME(cuCtxGetDevice, hipCtxGetDevice));
    } else {
        TEML_TRY(teml_gpu.get_device(&teml_gpu.device, 0), TEML_NAME(cuDeviceGet, hipDeviceGet));
        TEML_TRY(teml_gpu.get_context(&teml_gpu.context, teml_gpu.device), TEML_NAME(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain));
    }
    TEML_TRY(teml_gpu.set_current(teml_gpu.context), TEML_NAME(cuCtxSetCurrent, hipCtxSetCurrent));
    TEML_TRY(teml_gpu.create_event(&teml_gpu.begins, 0), TEML_NAME(cuEventCreate, hipEventCreateWithFlags));
    TEML_TRY(teml_gpu.create_event(&teml_gpu.ends, 0), TEML_NAME(cuEventCreate, hipEventCreateWithFlags));
}

// Finds the device once. Without one, no kernel runs.
static inline void teml_device_open(void)
{
    if (teml_device_failed || teml_gpu.is_ready)
        return;
    teml_gpu_find();
    teml_gpu.is_ready = !teml_device_failed;
    teml_device_failed *= 2;
}

// The machine code of a program for the device of this machine, or NULL.
static inline char *teml_gpu_code(const char *source, int is_wide)
{
    char architecture[48];
    const char *const wide = "-DTEML_INDEX=int64_t";
    // HIP compiles for the device that is there.
    const char *const options[] = {TEML_OF(architecture, wide), "--std=c++14", wide};
    int major = 0, minor = 0;
    size_t size = 0;
    void *program = NULL;
    char *text = NULL;
    TEML_TRY(teml_gpu.get_attribute(&major, 75, teml_gpu.device), TEML_NAME(cuDeviceGetAttribute, hipDeviceGetAttribute));
    TEML_TRY(teml_gpu.get_attribute(&minor, 76, teml_gpu.device), TEML_NAME(cuDeviceGetAttribute, hipDeviceGetAttribute));
    if (teml_device_failed)
        return NULL;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
    if (teml_gpu.create(&program, source, "kernel", 0, NULL, NULL)) {
        teml_device_fail(TEML_NAME(nvrtcCreateProgram, hiprtcCreateProgram), "out of memory");
        return NULL;
    }
    if (teml_gpu.compile(program, TEML_OF(2, 0) + is_wide, options)) {
        teml_gpu.get_log_size(program, &size);
        text = (char *)calloc(size + 1, 1);
        if (text)
            teml_gpu.get_log(program, text);
        teml_device_fail(TEML_OF("the compiler of CUDA C refused it", "the compiler of HIP C refused it"), text ? text : "out of memory");
        free(text);
        text = NULL;
    } else {
        teml_gpu.get_code_size(program, &size);
        text = (char *)malloc(size + 1);
        if (text)
            teml_gpu.get_code(program, text);
        else
            teml_device_fail(TEML_NAME(nvrtcGetCUBIN, hiprtcGetCode), "out of memory");
    }
    teml_gpu.destroy(&program);
    return text;
}

// Compiles a program for the device of this machine, once.
static inline void teml_device_use(teml_device_program *of, int is_wide)
{
    char *code;
    void **module = &of->modules[is_wide];
    teml_device_open();
    TEML_TRY(teml_gpu.set_current(teml_gpu.context), TEML_NAME(cuCtxSetCurrent, hipCtxSetCurrent));
    of->is_wide = is_wide;
    if (teml_device_failed || *module)
        return;
    code = teml_gpu_code(of->source, is_wide);
    TEML_TRY(teml_gpu.load(module, code), TEML_NAME(cuModuleLoadData, hipModuleLoadData));
    free(code);
}

// Memory of the device, perhaps with the contents of memory of the processor.
static inline teml_device_buffer teml_device_get(const void *from, size_t bytes, int copies)
{
    teml_device_buffer buffer = 0;
    TEML_TRY(teml_gpu.allocate(&buffer, bytes ? bytes : 1), TEML_NAME(cuMemAlloc, hipMalloc));
    if (copies && bytes)
        TEML_TRY(teml_gpu.copy_there(buffer, from, bytes), TEML_NAME(cuMemcpyHtoD, hipMemcpyHtoD));
    return buffer;
}

static inline void teml_device_put(teml_device_buffer buffer, void *to, size_t bytes)
{
    if (bytes)
        TEML_TRY(teml_gpu.copy_back(to, buffer, bytes), TEML_NAME(cuMemcpyDtoH, hipMemcpyDtoH));
}

static inline void teml_device_free(teml_device_buffer buffer)
{
    int error = buffer ? teml_gpu.release(buffer) : 0;
    TEML_TRY(error, TEML_NAME(cuMemFree, hipFree));
}

// The clock starts again with the second turn, while the first one keeps the device busy.
static inline void teml_device_begin(int turn)
{
    if (turn > 1)
        return;
    TEML_TRY(teml_gpu.record(teml_gpu.begins, NULL), TEML_NAME(cuEventRecord, hipEventRecord));
}

static inline void teml_device_end(void)
{
    float milliseconds = 0;
    TEML_TRY(teml_gpu.record(teml_gpu.ends, NULL), TEML_NAME(cuEventRecord, hipEventRecord));
    TEML_TRY(teml_gpu.wait(teml_gpu.ends), "the kernel");
    TEML_TRY(teml_gpu.elapsed(&milliseconds, teml_gpu.begins, teml_gpu.ends), TEML_NAME(cuEventElapsedTime, hipEventElapsedTime));
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
    TEML_TRY(teml_gpu.get_function(&function, of->modules[of->is_wide], name), TEML_NAME(cuModuleGetFunction, hipModuleGetFunction));
    TEML_TRY(teml_gpu.launch(function, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], block[0],
                                           block[1], block[2], 0, NULL, args, NULL), TEML_NAME(cuLaunchKernel, hipModuleLaunchKernel));
}
