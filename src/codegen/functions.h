// The functions of the C library in the lanes of a vector, which glibc has in libmvec: its <math.h>
// declares them for -ffast-math alone. They differ from the others by 4 units in the last place at
// most, and treat numbers that are none in the same way.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 22)
__attribute__((simd("notinbranch"))) double exp(double);
__attribute__((simd("notinbranch"))) double log(double);
__attribute__((simd("notinbranch"))) double sin(double);
__attribute__((simd("notinbranch"))) double cos(double);
__attribute__((simd("notinbranch"))) double pow(double, double);
__attribute__((simd("notinbranch"))) float expf(float);
__attribute__((simd("notinbranch"))) float logf(float);
__attribute__((simd("notinbranch"))) float sinf(float);
__attribute__((simd("notinbranch"))) float cosf(float);
__attribute__((simd("notinbranch"))) float powf(float, float);
#endif
#if __GLIBC_PREREQ(2, 35)
__attribute__((simd("notinbranch"))) double tanh(double);
__attribute__((simd("notinbranch"))) float tanhf(float);
#endif
#endif
