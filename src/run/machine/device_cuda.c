// Facts about the device by CUDA: numbers of its attributes, and its name.
void teml_device_facts(double *TEML_RESTRICT facts)
{
    static const int attributes[] = {1, 10, 8, 16, 106, 39, 82, 81, 38};
    int (*get_name)(char *, int, int);
    char name[96] = "";
    teml_device_open();
    for (int k = 0; k < 9; k++) {
        int value = 0;
        teml_cuda.cuDeviceGetAttribute(&value, attributes[k], teml_cuda.device);
        facts[k] = value;
    }
    teml_device_symbol(NULL, "cuDeviceGetName", &get_name);
    get_name(name, 95, teml_cuda.device);
    for (int k = 0; k < 96; k++)
        facts[9 + k] = (unsigned char)name[k];
}
