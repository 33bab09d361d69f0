#pragma once
#include <stdint.h>

#ifdef __cplusplus
#define TEML_RESTRICT __restrict
#define TEML_AUTO auto
#else
#define TEML_RESTRICT restrict
#define TEML_AUTO __auto_type
#endif

#ifdef __cplusplus
extern "C" {
#endif

void a(
    double (*TEML_RESTRICT x)[16]);

void b(
    double (*TEML_RESTRICT x)[16]);

void reference(
    double (*TEML_RESTRICT x)[16]);

#ifdef __cplusplus
}
#endif
