// Compiled as C++26: fields by reflection, nothing declared.
#ifndef __cpp_impl_reflection
#error this file is compiled with reflection
#endif

#define SHAPES_NAMESPACE shapes_by_reflection
#define SHAPE_FIELDS(...) static_assert(true)
#include "annotations/key_shapes.hpp"

Rendered keys_by_reflection() { return shapes_by_reflection::render(); }
