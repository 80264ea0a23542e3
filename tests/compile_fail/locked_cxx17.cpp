// expect: latchkey needs C\+\+20: compile with -std=c\+\+20
// The old standard.
#undef __cplusplus
#define __cplusplus 201703L
#include <latchkey/latchkey.hpp>
