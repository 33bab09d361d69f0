#ifndef TEML_INDEX
#define TEML_INDEX int
#endif
static inline TEML_INDEX teml_min_index(TEML_INDEX a, TEML_INDEX b) { return a < b ? a : b; }
static inline TEML_INDEX teml_max_index(TEML_INDEX a, TEML_INDEX b) { return a > b ? a : b; }
