// A guard in memory: the highest fencing token of each key that this process has seen.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <latchkey/fence.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Refuses old fences in a service that is one process and keeps its state in memory. Use one for
/// each store of locks, because it compares tokens of different keys when it has forgotten some.
///
/// Not promised: what a restarted process has seen, since the memory is gone; and that no other
/// thread admits a newer fence between admit() and your write. Call admit() where you write: under
/// the mutex, or on the strand, that orders the writes of the key.
///
/// Thread-safe. Moved from, it may only be destroyed or assigned to.
class SeenFences {
 public:
  /// Remembers at most `most_keys` keys, at least one. If there is one more, it forgets the key
  /// whose last fence came longest ago. From then on it refuses, for keys that it does not know,
  /// tokens that are lower than the highest forgotten one: a late writer never passes, but a holder
  /// that has held its lock for that long and comes for the first time has to acquire it anew.
  explicit SeenFences(std::size_t most_keys = 65'536);
  SeenFences(SeenFences&& other) noexcept;
  SeenFences& operator=(SeenFences&& other) noexcept;
  ~SeenFences();

  /// Throws FenceRejected if a higher token of the key was admitted, or forgotten. Otherwise
  /// remembers this one. An equal token passes: it is the same holder. Throws std::bad_alloc, and
  /// then has admitted nothing.
  void admit(const Fence& fence);

  /// The highest token admitted for `key`; empty: none, or it is forgotten.
  [[nodiscard]] std::optional<std::uint64_t> highest(std::string_view key) const;

 private:
  class Table;

  std::unique_ptr<Table> table_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
