// Detects a bit-field in an aggregate. References cannot bind to bit-fields.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect::detail {

/// Accepts all members that a reference can bind to.
template <class... Members>
void refer_to(Members&...);

// The maximum number of members that are examined; larger types are not checked.
inline constexpr std::size_t most_members_with_bits = 24;

// NOLINTBEGIN(cppcoreguidelines-macro-usage): a structured binding has no pack in C++20
// clang-format off: the unrolled lists are read in columns
#define LATCHKEY_DETAIL_MEMBERS_1 m1
#define LATCHKEY_DETAIL_MEMBERS_2 LATCHKEY_DETAIL_MEMBERS_1, m2
#define LATCHKEY_DETAIL_MEMBERS_3 LATCHKEY_DETAIL_MEMBERS_2, m3
#define LATCHKEY_DETAIL_MEMBERS_4 LATCHKEY_DETAIL_MEMBERS_3, m4
#define LATCHKEY_DETAIL_MEMBERS_5 LATCHKEY_DETAIL_MEMBERS_4, m5
#define LATCHKEY_DETAIL_MEMBERS_6 LATCHKEY_DETAIL_MEMBERS_5, m6
#define LATCHKEY_DETAIL_MEMBERS_7 LATCHKEY_DETAIL_MEMBERS_6, m7
#define LATCHKEY_DETAIL_MEMBERS_8 LATCHKEY_DETAIL_MEMBERS_7, m8
#define LATCHKEY_DETAIL_MEMBERS_9 LATCHKEY_DETAIL_MEMBERS_8, m9
#define LATCHKEY_DETAIL_MEMBERS_10 LATCHKEY_DETAIL_MEMBERS_9, m10
#define LATCHKEY_DETAIL_MEMBERS_11 LATCHKEY_DETAIL_MEMBERS_10, m11
#define LATCHKEY_DETAIL_MEMBERS_12 LATCHKEY_DETAIL_MEMBERS_11, m12
#define LATCHKEY_DETAIL_MEMBERS_13 LATCHKEY_DETAIL_MEMBERS_12, m13
#define LATCHKEY_DETAIL_MEMBERS_14 LATCHKEY_DETAIL_MEMBERS_13, m14
#define LATCHKEY_DETAIL_MEMBERS_15 LATCHKEY_DETAIL_MEMBERS_14, m15
#define LATCHKEY_DETAIL_MEMBERS_16 LATCHKEY_DETAIL_MEMBERS_15, m16
#define LATCHKEY_DETAIL_MEMBERS_17 LATCHKEY_DETAIL_MEMBERS_16, m17
#define LATCHKEY_DETAIL_MEMBERS_18 LATCHKEY_DETAIL_MEMBERS_17, m18
#define LATCHKEY_DETAIL_MEMBERS_19 LATCHKEY_DETAIL_MEMBERS_18, m19
#define LATCHKEY_DETAIL_MEMBERS_20 LATCHKEY_DETAIL_MEMBERS_19, m20
#define LATCHKEY_DETAIL_MEMBERS_21 LATCHKEY_DETAIL_MEMBERS_20, m21
#define LATCHKEY_DETAIL_MEMBERS_22 LATCHKEY_DETAIL_MEMBERS_21, m22
#define LATCHKEY_DETAIL_MEMBERS_23 LATCHKEY_DETAIL_MEMBERS_22, m23
#define LATCHKEY_DETAIL_MEMBERS_24 LATCHKEY_DETAIL_MEMBERS_23, m24
#define LATCHKEY_DETAIL_BITS(count)                                             \
  if constexpr (Count == (count)) {                                             \
    auto& [LATCHKEY_DETAIL_MEMBERS_##count] = object;                           \
    return Answer<!requires { refer_to(LATCHKEY_DETAIL_MEMBERS_##count); }>{};  \
  } else

template <bool Has>
struct Answer {
  static constexpr bool value = Has;
};

template <std::size_t Count, class T>
constexpr auto ask_for_bit_field([[maybe_unused]] T& object) {
  LATCHKEY_DETAIL_BITS(1) LATCHKEY_DETAIL_BITS(2) LATCHKEY_DETAIL_BITS(3)
  LATCHKEY_DETAIL_BITS(4) LATCHKEY_DETAIL_BITS(5) LATCHKEY_DETAIL_BITS(6)
  LATCHKEY_DETAIL_BITS(7) LATCHKEY_DETAIL_BITS(8) LATCHKEY_DETAIL_BITS(9)
  LATCHKEY_DETAIL_BITS(10) LATCHKEY_DETAIL_BITS(11) LATCHKEY_DETAIL_BITS(12)
  LATCHKEY_DETAIL_BITS(13) LATCHKEY_DETAIL_BITS(14) LATCHKEY_DETAIL_BITS(15)
  LATCHKEY_DETAIL_BITS(16) LATCHKEY_DETAIL_BITS(17) LATCHKEY_DETAIL_BITS(18)
  LATCHKEY_DETAIL_BITS(19) LATCHKEY_DETAIL_BITS(20) LATCHKEY_DETAIL_BITS(21)
  LATCHKEY_DETAIL_BITS(22) LATCHKEY_DETAIL_BITS(23) LATCHKEY_DETAIL_BITS(24)
  {
    return Answer<false>{};
  }
}

#undef LATCHKEY_DETAIL_MEMBERS_1
#undef LATCHKEY_DETAIL_MEMBERS_2
#undef LATCHKEY_DETAIL_MEMBERS_3
#undef LATCHKEY_DETAIL_MEMBERS_4
#undef LATCHKEY_DETAIL_MEMBERS_5
#undef LATCHKEY_DETAIL_MEMBERS_6
#undef LATCHKEY_DETAIL_MEMBERS_7
#undef LATCHKEY_DETAIL_MEMBERS_8
#undef LATCHKEY_DETAIL_MEMBERS_9
#undef LATCHKEY_DETAIL_MEMBERS_10
#undef LATCHKEY_DETAIL_MEMBERS_11
#undef LATCHKEY_DETAIL_MEMBERS_12
#undef LATCHKEY_DETAIL_MEMBERS_13
#undef LATCHKEY_DETAIL_MEMBERS_14
#undef LATCHKEY_DETAIL_MEMBERS_15
#undef LATCHKEY_DETAIL_MEMBERS_16
#undef LATCHKEY_DETAIL_MEMBERS_17
#undef LATCHKEY_DETAIL_MEMBERS_18
#undef LATCHKEY_DETAIL_MEMBERS_19
#undef LATCHKEY_DETAIL_MEMBERS_20
#undef LATCHKEY_DETAIL_MEMBERS_21
#undef LATCHKEY_DETAIL_MEMBERS_22
#undef LATCHKEY_DETAIL_MEMBERS_23
#undef LATCHKEY_DETAIL_MEMBERS_24
#undef LATCHKEY_DETAIL_BITS
// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage)

/// `Count` is the number of members of the aggregate T, which has no base.
template <class T, std::size_t Count>
constexpr bool has_bit_field() {
  return decltype(ask_for_bit_field<Count>(*static_cast<T*>(nullptr)))::value;
}

}  // namespace latchkey::inline v1::reflect::detail
#pragma GCC visibility pop
