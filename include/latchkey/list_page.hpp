// A part of a listing of locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// A position in a listing. A new one is the start; a page that returns a new one was the last.
/// Its members have a meaning only for the backend.
struct ListCursor {
  std::uint64_t position = 0;
  std::uint32_t part = 0;  ///< which of several servers

  friend bool operator==(const ListCursor&, const ListCursor&) noexcept = default;
};

/// One page of a listing: a bounded amount of work for the backend. A key may occur on two pages,
/// and a key that is locked or released during the listing may or may not occur.
struct ListPage {
  /// Keys without the prefix, in no particular order; those that are waited for: most waiters
  /// first.
  std::vector<std::string> names;
  /// In a listing of the keys that are waited for: how many connections or places in the queue wait
  /// for each of `names`. Otherwise empty.
  std::vector<std::uint64_t> waiters;
  ListCursor next;             ///< where the next page begins; a new one: this was the last page
  std::uint64_t examined = 0;  ///< about how many keys of the backend this page examined
  /// About how many keys the backend has; 0: not known. In a listing of the keys that are waited
  /// for: how many of them this page's server has.
  std::uint64_t total = 0;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
