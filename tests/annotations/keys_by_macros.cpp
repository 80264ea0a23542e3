// Compiled as C++20: fields by Boost.PFR and LATCHKEY_FIELDS.
#ifdef __cpp_impl_reflection
#error this file is compiled without reflection
#endif

#define SHAPES_NAMESPACE shapes_by_macros
#define SHAPE_FIELDS(...) LATCHKEY_FIELDS(__VA_ARGS__)
#include "annotations/key_shapes.hpp"

Rendered keys_by_macros() { return shapes_by_macros::render(); }
