// Counts violations of mutual exclusion without relying on the locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <latchkey/lock_type.hpp>

namespace latchkey::soak {

/// The data that one key guards, and the counters by which visitors detect each other.
struct alignas(64) KeyState {
  // Guarded only by the key's lock, so that ThreadSanitizer reports a race.
  std::uint64_t last_token = 0;
  std::uint64_t plain_updates = 0;
  /// Incremented by a load and a store: without the lock updates are lost, but there is no data
  /// race.
  std::atomic<std::uint64_t> updates{0};

  // Counted independently of the lock.
  std::atomic<std::uint64_t> writers{0};  ///< inside now
  std::atomic<std::uint64_t> readers{0};
  std::atomic<std::uint64_t> updates_made{0};
};

struct Violations {
  std::atomic<std::uint64_t> overlaps{0};      ///< another visitor was inside
  std::atomic<std::uint64_t> torn_reads{0};    ///< a reader saw an update
  std::atomic<std::uint64_t> stale_tokens{0};  ///< a fencing token that did not rise
  std::atomic<std::uint64_t> lost_updates{0};
};

/// Uses only relaxed memory order, because ordering is the task of the lock. Allocates nothing, so
/// processes can share it.
class Judge {
 public:
  static constexpr std::size_t key_count = 100;

  /// An exclusive visit. `guarded`: a lock is held, so the data without atomics is accessed, too.
  void visit_alone(std::size_t number, std::uint64_t token, bool guarded) {
    KeyState& state = keys_[number];
    if (state.writers.fetch_add(1, relaxed) != 0 || state.readers.load(relaxed) != 0) {
      ++violations.overlaps;
    }
    const std::uint64_t seen = state.updates.load(relaxed);
    if (guarded) {
      ++state.plain_updates;
      if (token != 0 && token <= state.last_token) ++violations.stale_tokens;
      if (token != 0) state.last_token = token;
    }
    dwell(state);
    state.updates_made.fetch_add(1, relaxed);
    state.updates.store(seen + 1, relaxed);
    state.writers.fetch_sub(1, relaxed);
  }

  void visit_shared(std::size_t number, bool guarded) {
    KeyState& state = keys_[number];
    state.readers.fetch_add(1, relaxed);
    if (state.writers.load(relaxed) != 0) ++violations.overlaps;
    const std::uint64_t first = state.updates.load(relaxed);
    if (guarded && first != state.plain_updates) ++violations.torn_reads;
    dwell(state);
    if (state.updates.load(relaxed) != first || state.updates_made.load(relaxed) != first) {
      ++violations.torn_reads;
    }
    state.readers.fetch_sub(1, relaxed);
  }

  /// Counts the lost updates. Must be called after all threads were joined.
  void settle() {
    for (const KeyState& state : keys_) {
      const std::uint64_t made = state.updates_made.load();
      violations.lost_updates += made - state.updates.load();
    }
  }

  Violations violations;

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;

  /// Takes as long as a short body under a lock.
  static void dwell(const KeyState& state) {
    for (int step = 0; step < 20; ++step) static_cast<void>(state.writers.load(relaxed));
  }

  std::array<KeyState, key_count> keys_{};
};

/// The type of a key, which it keeps for the whole run. Each type has a fifth of the keys.
inline LockType type_of(std::size_t key) {
  constexpr LockType types[] = {LockType::REENTRANT, LockType::FAIR, LockType::WRITE,
                                LockType::FENCED, LockType::READ};
  return types[key % 5];  // a READ key is sometimes acquired as WRITE
}

}  // namespace latchkey::soak
