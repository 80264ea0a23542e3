// Level 1: reflection of the types that keys are made from. It does not depend on keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <latchkey/detail/reflect/made_text.hpp>
#include <latchkey/detail/reflect/object.hpp>
#include <latchkey/detail/reflect/shape.hpp>
#include <latchkey/detail/reflect/type_info.hpp>
#include <latchkey/detail/reflect/type_name.hpp>
#include <latchkey/fields.hpp>
