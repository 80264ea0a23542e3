// Who waits for whom in a lock's queue.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v1::detail::zookeeper {

/// The hold that an entry belongs to, as the entry's name says it.
using TicketOwner = std::array<std::uint64_t, 2>;

/// One entry of a lock's queue at the store: an ordered node that ends with its session.
struct Ticket {
  enum class Kind : std::uint8_t { exclusive, read, write };

  std::string name;
  /// Its position. It counts modulo 2^32, as ZooKeeper's sequence numbers do: of two entries that
  /// exist at the same time, the difference says which is first.
  std::uint32_t order = 0;
  Kind kind = Kind::exclusive;
  TicketOwner owner{};
  bool foreign = false;  ///< made by another library
};

/// The entry that another one waits for.
struct Predecessor {
  const Ticket* ticket = nullptr;  ///< null: none; the entry holds the lock
  /// The entry holds the lock as soon as the predecessor is deleted: nobody else is before it, and
  /// nobody can take the predecessor's place (a writer that becomes a reader keeps its position).
  bool is_last = false;
};

/// Whether `one` is before `other`.
[[nodiscard]] constexpr bool precedes(std::uint32_t one, std::uint32_t other) noexcept {
  return static_cast<std::int32_t>(one - other) < 0;
}

/// The recipe: a reader waits for the nearest writer before it, everybody else for the nearest
/// entry before it. Each deletion thus wakes one waiter, or the readers behind one writer.
/// `tickets`: in any order.
[[nodiscard]] Predecessor predecessor(const std::vector<Ticket>& tickets,
                                      const Ticket& own) noexcept;

/// The entries that hold the lock: the first one, or the readers that no writer precedes.
[[nodiscard]] std::vector<const Ticket*> holders(const std::vector<Ticket>& tickets);

/// Sorts by position.
void sort_tickets(std::vector<Ticket>& tickets);

}  // namespace latchkey::inline v1::detail::zookeeper
