// expect: annotations need C\+\+26 reflection \(P2996, P3394\): GCC 16 with -std=c\+\+26 -freflection
// A compiler without reflection.
#undef __cpp_impl_reflection
#include <latchkey/annotations.hpp>
