// NVIDIA's names.
#define TEML_OF(cuda, hip) cuda
#define TEML_DRIVERS "libcuda.so.1"
#define TEML_COMPILERS "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"
