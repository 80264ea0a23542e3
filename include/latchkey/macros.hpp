// The macros of latchkey and nothing else, for files that `import latchkey;`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <latchkey/macros/decorated.hpp>
#include <latchkey/macros/fields.hpp>
#include <latchkey/macros/locked.hpp>
#include <latchkey/macros/short.hpp>
