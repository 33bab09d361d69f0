#ifdef __cplusplus
#define TEML_RESTRICT __restrict
#else
#define TEML_RESTRICT restrict
#endif
