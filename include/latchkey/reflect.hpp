// Level 1: reflection of the types that keys are made from. It does not depend on keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/cxx20.hpp>

#include <latchkey/reflect/fields.hpp>
#include <latchkey/reflect/made_text.hpp>
#include <latchkey/reflect/object.hpp>
#include <latchkey/reflect/shape.hpp>
#include <latchkey/reflect/type_info.hpp>
#include <latchkey/reflect/type_name.hpp>
