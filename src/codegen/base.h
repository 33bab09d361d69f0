#ifdef __cplusplus
#define TEML_RESTRICT __restrict
#define TEML_AUTO auto
#else
#define TEML_RESTRICT restrict
#define TEML_AUTO __auto_type
#endif
