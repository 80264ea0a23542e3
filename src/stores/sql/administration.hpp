// Fills the answers to an inspection and to a listing from the rows of a database.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail::sql {

/// The state of a key, row by row.
class Inspection {
 public:
  explicit Inspection(const Request& request);

  void add_place(std::string_view owner) { info_.queue.emplace_back(owner); }
  void add_hold(LockType type, std::string_view owner, std::chrono::milliseconds left,
                std::string_view note = {});
  /// A hold of so many permits.
  void add_permits(std::int64_t count, std::string_view owner, std::chrono::milliseconds left,
                   std::string_view note = {});
  /// The key is a semaphore of so many permits.
  void set_total(std::int64_t permits) noexcept;
  void set_subscribers(std::uint64_t count) noexcept { info_.subscribers = count; }
  void set_fence(std::uint64_t token) noexcept { info_.fencing_token = token; }

  /// After the last row: gives the state to the request.
  [[nodiscard]] Outcome finish();

 private:
  const Request& request_;
  LockInfo info_;
  std::int64_t total_ = 0, taken_ = 0;  ///< permits
};

/// The listing was one page, and so many keys were examined for it.
void finish_listing(const Request& request, std::size_t examined) noexcept;

}  // namespace latchkey::inline v1::detail::sql
