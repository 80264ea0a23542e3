// Why a type's fields have no names unless it declares them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {

/// Without C++26 reflection these are the limits of Boost.PFR, which itself would fail with an
/// error deep inside it. With it only unions have a fault.
enum class AggregateFault : unsigned char {
  NONE,
  NOT_AN_AGGREGATE,  // private members, constructors, virtual functions; unions
  HAS_A_BASE,
  HAS_AN_ARRAY,
  HAS_A_BIT_FIELD,
  HAS_TOO_MANY_FIELDS,
};

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
