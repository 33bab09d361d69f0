// Facts about the device by OpenCL, which does not know all that CUDA does, and its name.
void teml_device_facts(double *TEML_RESTRICT facts)
{
    const char *own = getenv("TEML_OPENCL");
    int (*get)(void *, unsigned, size_t, void *, size_t *);
    unsigned processors = 0;
    size_t threads = 0;
    uint64_t shared = 0, cache = 0;
    char name[96] = "";
    teml_device_open();
    teml_device_symbol(dlopen(own ? own : "libOpenCL.so.1", RTLD_NOW), "clGetDeviceInfo", &get);
    if (teml_device_failed)
        return teml_device_leave();
    get(teml_opencl.device, 0x1004, sizeof threads, &threads, NULL);
    get(teml_opencl.device, 0x1023, sizeof shared, &shared, NULL);
    get(teml_opencl.device, 0x1002, sizeof processors, &processors, NULL);
    get(teml_opencl.device, 0x101E, sizeof cache, &cache, NULL);
    get(teml_opencl.device, 0x102B, sizeof name - 1, name, NULL);
    for (int k = 0; k < 10; k++)
        facts[k] = 0;
    facts[0] = (double)threads;
    facts[2] = (double)shared;
    facts[3] = processors;
    facts[8] = (double)cache;
    for (int k = 0; k < 96; k++)
        facts[10 + k] = (unsigned char)name[k];
}
