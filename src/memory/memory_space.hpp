// One space of locks inside the process.
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
#include "memory/lock_table.hpp"

namespace latchkey::detail {

/// A lock table in shards, so that unrelated keys do not contend. Thread-safe.
///
/// Lock order: shards by their index, then a subscriber's own mutex.
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

  void forget(const Subscriber& subscriber) noexcept;

  /// The number of keys with a record. For tests.
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
  void apply_to_several(const Request& request, Clock::time_point now, Outcome& outcome);
  void list(const Request& request, Clock::time_point now, Outcome& outcome);
  void list_part(const Request& request, Clock::time_point now, Outcome& outcome);

  void prepare() noexcept LATCHKEY_FORK_HANDLER override;
  void parent() noexcept LATCHKEY_FORK_HANDLER override;
  void child() noexcept LATCHKEY_FORK_HANDLER override;

  std::array<Shard, shard_count> shards_;
  Clock& clock_;
  const std::string name_;
};

// Inline: part of every uncontended call.
inline void MemorySpace::apply(const Request& request, Subscriber* subscriber,
                               Outcome& outcome) noexcept {
  const bool dated = request.sent != Clock::time_point{};
  const Clock::time_point now = dated ? request.sent : clock_.now();
  try {
    if (request.verb == Verb::acquire_all) {
      apply_to_several(request, now, outcome);
    } else if (request.verb == Verb::list) {
      list(request, now, outcome);
    } else {
      const std::size_t hash = request.hash != 0 ? request.hash : hash_key(request.key);
      Shard& shard = shards_[shard_of(hash)];
      const std::lock_guard lock(shard.mutex);
      shard.table.apply(request, hash, now, subscriber, outcome);
    }
  } catch (const std::bad_alloc&) {
    outcome = Outcome{};
    outcome.reason = "no memory left";  // short enough to need no allocation
  }
}

}  // namespace latchkey::detail
