// One space of locks inside the process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

#include "core/at_fork.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "memory/count_table.hpp"
#include "memory/lock_table.hpp"
#include "memory/revocation_table.hpp"

namespace latchkey::inline v1::detail {

/// A lock table in shards, so that unrelated keys do not contend. Thread-safe.
///
/// Lock order: shards by their index, then the latches, then a subscriber's own mutex.
class MemorySpace final : private ForkParticipant {
 public:
  /// The space of that name, made if the process has none. An empty name always makes a new space.
  /// Throws std::invalid_argument if the space exists and has another clock.
  static std::shared_ptr<MemorySpace> open(std::string_view name, Clock& clock);

  MemorySpace(std::string_view name, Clock& clock);
  MemorySpace(const MemorySpace&) = delete;
  MemorySpace& operator=(const MemorySpace&) = delete;
  ~MemorySpace();

  /// Carries out `request` at the time `Request::sent`, or now if that is not set. `outcome` is
  /// newly made. Never throws: exhausted memory is an unknown outcome.
  void apply(const Request& request, Subscriber* subscriber, Outcome& outcome) noexcept;
  /// True: an acquire or a release that nobody contends for; it is granted. False: nothing is done.
  [[nodiscard]] bool apply_uncontended(const Request& request) noexcept;

  /// Ends all subscriptions of `subscriber`.
  void forget(const Subscriber& subscriber) noexcept;

  /// The number of keys with a record, and of latches.
  [[nodiscard]] std::size_t size() noexcept;

  [[nodiscard]] Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  static constexpr std::size_t shard_bits = 8;
  static constexpr std::size_t shard_count = std::size_t{1} << shard_bits;
  struct alignas(64) Shard {
    SmallMutex mutex;
    LockTable table;
  };

  static std::size_t shard_of(std::size_t hash) noexcept { return hash >> (64 - shard_bits); }
  void apply_any(const Request& request, Subscriber* subscriber, Outcome& outcome) noexcept;
  void apply_to_several(const Request& request, Clock::time_point now, Outcome& outcome);
  void revoke(const Request& request, Clock::time_point now, Outcome& outcome);
  void list(const Request& request, Clock::time_point now, Outcome& outcome);
  void list_part(const Request& request, Clock::time_point now, Outcome& outcome);

  void prepare() noexcept LATCHKEY_FORK_HANDLER override;
  void parent() noexcept LATCHKEY_FORK_HANDLER override;
  void child() noexcept LATCHKEY_FORK_HANDLER override;

  std::array<Shard, shard_count> shards_;
  SmallMutex counts_mutex_;
  CountTable counts_;            // guarded by counts_mutex_
  RevocationTable revocations_;  // guarded by counts_mutex_
  Clock& clock_;
  const std::string name_;
};

// Inline: part of every uncontended call.

inline bool MemorySpace::apply_uncontended(const Request& request) noexcept {
  if (request.sent == Clock::time_point{} || request.hash == 0) return false;
  Shard& shard = shards_[shard_of(request.hash)];
  if (request.verb == Verb::acquire) {
    const std::lock_guard lock(shard.mutex);
    try {
      return shard.table.take(request, request.hash, request.sent);
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  if (request.verb == Verb::release) {
    const std::lock_guard lock(shard.mutex);
    return shard.table.give_back(request, request.hash, request.sent);
  }
  return false;
}

[[gnu::always_inline]] inline void MemorySpace::apply(const Request& request,
                                                      Subscriber* subscriber,
                                                      Outcome& outcome) noexcept {
  if (apply_uncontended(request)) {
    outcome.kind = Outcome::Kind::granted;
  } else {
    apply_any(request, subscriber, outcome);
  }
}

}  // namespace latchkey::inline v1::detail
