// Facts about the device by CUDA or HIP: numbers of its attributes, and its name.
void teml_device_facts(double *TEML_RESTRICT facts)
{
    // The threads of a block, lanes of a warp, bytes shared, processors; blocks, threads, registers
    // and bytes of a processor; bytes of the second cache; bytes of a processor that the system takes
    // for each block, which AMD's driver does not tell.
    static const int attributes[][2] = {
        {1, 56}, {10, 87}, {8, 74}, {16, 63}, {106, 25}, {39, 57}, {82, 72}, {81, 10002}, {38, 19},
        {111, -1},
    };
    int (*get_name)(char *, int, int);
    char name[96] = "";
    teml_device_open();
    if (teml_device_failed)
        return teml_device_leave();
    for (int k = 0; k < 10; k++) {
        int value = 0;
        teml_gpu.get_attribute(&value, attributes[k][TEML_OF(0, 1)], teml_gpu.device);
        facts[k] = value;
    }
    teml_device_symbol(NULL, TEML_NAME(cuDeviceGetName, hipDeviceGetName), &get_name);
    if (!teml_device_failed)
        get_name(name, 95, teml_gpu.device);
    for (int k = 0; k < 96; k++)
        facts[10 + k] = (unsigned char)name[k];
}
