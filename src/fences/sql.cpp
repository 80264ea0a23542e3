// The guard in SQL: what the tables of all databases have in common.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/fences/sql.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>

#include <latchkey/detail/in_quotes.hpp>
#include <latchkey/error.hpp>

#include "core/text/number.hpp"
#include "core/text/printable.hpp"

namespace latchkey::inline v1::detail {

std::string with_literals(std::string_view statement,
                          std::initializer_list<std::string_view> literals) {
  std::string text;
  const std::string_view* next = literals.begin();
  for (const char byte : statement) {
    if (byte == '?' && next != literals.end()) {
      text += *next++;
    } else {
      text += byte;
    }
  }
  return text;
}

std::string bigint_text(const Fence& fence) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (fence.token > most) {
    fence_not_checked(fence, "its token is larger than " + std::to_string(most) +
                                 ", the largest bigint; no store of latchkey gives such a token");
  }
  return std::to_string(fence.token);
}

void require_highest(const Fence& fence, std::string_view highest) {
  std::uint64_t token = 0;
  if (!read_number(highest, token)) {
    fence_not_checked(fence, "latchkey_seen_fences has a token " + in_quotes(highest));
  }
  if (token > fence.token) throw FenceRejected(fence.key, fence.token, token);
}

void fence_not_checked(const Fence& fence, std::string_view reason, bool missing_table) {
  while (reason.ends_with('\n')) reason.remove_suffix(1);
  std::string sentence = "the fence " + fence.text() + " was not checked: " + printable(reason);
  if (missing_table) sentence += "; `latchkey ddl fences` prints the table";
  throw Error(sentence);
}

void fence_outside_transaction(const Fence& fence) {
  fence_not_checked(fence,
                    "the connection is not in a transaction, which keeps the row locked until your "
                    "writes are committed; begin one first");
}

}  // namespace latchkey::inline v1::detail
