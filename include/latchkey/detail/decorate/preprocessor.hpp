// The preprocessor part of DECORATED: lists of up to 17 items, and texts in parentheses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses): only macros can do this
// clang-format off: the unrolled lists are read in columns

#define LATCHKEY_DETAIL_CAT(a, b) LATCHKEY_DETAIL_CAT_NOW(a, b)
#define LATCHKEY_DETAIL_CAT_NOW(a, b) a##b
#define LATCHKEY_DETAIL_TEXT(...) LATCHKEY_DETAIL_TEXT_NOW(__VA_ARGS__)
#define LATCHKEY_DETAIL_TEXT_NOW(...) #__VA_ARGS__
#define LATCHKEY_DETAIL_EAT(...)
#define LATCHKEY_DETAIL_KEEP(...) __VA_ARGS__
#define LATCHKEY_DETAIL_SECOND(...) LATCHKEY_DETAIL_SECOND_NOW(__VA_ARGS__)
#define LATCHKEY_DETAIL_SECOND_NOW(first, second, ...) second

/// 1 for an empty argument list, else 0.
#define LATCHKEY_DETAIL_IS_EMPTY(...) LATCHKEY_DETAIL_SECOND(__VA_OPT__(~, 0, ) ~, 1, ~)

/// 1 if the text begins with a parenthesis, else 0.
#define LATCHKEY_DETAIL_HAS_PARENS(...) \
  LATCHKEY_DETAIL_SECOND(LATCHKEY_DETAIL_PARENS_PROBE __VA_ARGS__, 0, ~)
#define LATCHKEY_DETAIL_PARENS_PROBE(...) ~, 1,

/// `IF(1)(then, otherwise)`; the condition is 0 or 1.
#define LATCHKEY_DETAIL_IF(condition) LATCHKEY_DETAIL_CAT(LATCHKEY_DETAIL_IF_, condition)
#define LATCHKEY_DETAIL_IF_1(then, otherwise) then
#define LATCHKEY_DETAIL_IF_0(then, otherwise) otherwise

/// The last of 32 arguments. After a list it selects by the length of the list.
#define LATCHKEY_DETAIL_PICK(...) LATCHKEY_DETAIL_PICK_NOW(__VA_ARGS__)
#define LATCHKEY_DETAIL_PICK_NOW(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, \
                                 a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, \
                                 a27, a28, a29, a30, a31, last, ...) last

/// The number of arguments: 0 to 20, or many.
#define LATCHKEY_DETAIL_COUNT(...)                                                             \
  LATCHKEY_DETAIL_PICK(__VA_ARGS__ __VA_OPT__(, ) many, many, many, many, many, many, many,    \
                       many, many, many, many, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, \
                       8, 7, 6, 5, 4, 3, 2, 1, 0, ~)

/// `MAP(operation, separator, items...)`: operation(item) for each item, with separator() between
/// them.
#define LATCHKEY_DETAIL_MAP(operation, separator, ...)                          \
  LATCHKEY_DETAIL_CAT(LATCHKEY_DETAIL_MAP_, LATCHKEY_DETAIL_COUNT(__VA_ARGS__)) \
  (operation, separator __VA_OPT__(, ) __VA_ARGS__)
#define LATCHKEY_DETAIL_COMMA() ,
#define LATCHKEY_DETAIL_NOTHING()
#define LATCHKEY_DETAIL_MAP_0(op, sep, ...)
#define LATCHKEY_DETAIL_MAP_1(op, sep, x) op(x)
#define LATCHKEY_DETAIL_MAP_2(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_1(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_3(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_2(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_4(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_3(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_5(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_4(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_6(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_5(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_7(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_6(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_8(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_7(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_9(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_8(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_10(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_9(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_11(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_10(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_12(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_11(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_13(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_12(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_14(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_13(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_15(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_14(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_16(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_15(op, sep, __VA_ARGS__)
#define LATCHKEY_DETAIL_MAP_17(op, sep, x, ...) \
  op(x) sep() LATCHKEY_DETAIL_MAP_16(op, sep, __VA_ARGS__)

// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)
