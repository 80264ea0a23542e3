// Why a type's fields have no names unless it declares them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {

/// Without C++26 reflection these are the limits of Boost.PFR, which itself would fail with an
/// error deep inside it. With it only unions have a fault.
enum class AggregateFault : unsigned char {
  none,
  not_an_aggregate,  // private members, constructors, virtual functions; unions
  has_a_base,
  has_an_array,
  has_a_bit_field,
  has_too_many_fields,
};

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
