// The macros of latchkey and nothing else, for files that `import latchkey;`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/cxx20.hpp>

#include <latchkey/decorate/decorated.hpp>
#include <latchkey/decorate/macros.hpp>
#include <latchkey/decorate/short_names.hpp>
#include <latchkey/reflect/field_macros.hpp>
