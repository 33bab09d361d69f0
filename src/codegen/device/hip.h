// AMD's names.
#define TEML_OF(cuda, hip) hip
#define TEML_DRIVERS "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"
#define TEML_COMPILERS "libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", TEML_DRIVERS
