// DECORATED's preprocessor, piece by piece.
#include <latchkey/detail/decorate/preprocessor.hpp>

#include <string_view>

#include <gtest/gtest.h>

namespace {

static_assert(LATCHKEY_DETAIL_IS_EMPTY() == 1);
static_assert(LATCHKEY_DETAIL_IS_EMPTY(x) == 0);
static_assert(LATCHKEY_DETAIL_IS_EMPTY(x, y) == 0);
static_assert(LATCHKEY_DETAIL_IS_EMPTY(()) == 0);
static_assert(LATCHKEY_DETAIL_HAS_PARENS(x) == 0);
static_assert(LATCHKEY_DETAIL_HAS_PARENS((x)) == 1);
static_assert(LATCHKEY_DETAIL_HAS_PARENS((x, y)z) == 1);
static_assert(LATCHKEY_DETAIL_HAS_PARENS(f(x)) == 0);
static_assert(LATCHKEY_DETAIL_COUNT() == 0);
static_assert(LATCHKEY_DETAIL_COUNT(a) == 1);
static_assert(LATCHKEY_DETAIL_COUNT((a, b), c) == 2);
static_assert(LATCHKEY_DETAIL_COUNT(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16) == 16);
static_assert(LATCHKEY_DETAIL_IF(1)(2, 3) == 2);
static_assert(LATCHKEY_DETAIL_IF(0)(2, 3) == 3);

#define TWICE(x) (2 * x)
#define PLUS() +
static_assert(LATCHKEY_DETAIL_MAP(TWICE, PLUS, 1, 2, 3) == 12);
static_assert(LATCHKEY_DETAIL_MAP(TWICE, PLUS, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) ==
              32);
static_assert(std::string_view(LATCHKEY_DETAIL_TEXT(LATCHKEY_DETAIL_CAT(a, b))) == "ab");

TEST(Preprocessor, IsCheckedWhenThisFileCompiles) {}

}  // namespace
