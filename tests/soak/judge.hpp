// Counts violations of mutual exclusion without relying on the locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <latchkey/lock_type.hpp>

namespace latchkey::soak {

/// The data that one key guards, and the counters by which visitors detect each other.
struct alignas(64) Room {
  // Guarded only by the key's lock, so that ThreadSanitizer reports a race.
  std::uint64_t last_token = 0;
  std::uint64_t plain_updates = 0;
  /// Loaded, then stored: without the lock updates are lost, but it is no data race.
  std::atomic<std::uint64_t> updates{0};

  // The judge's own.
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

/// Uses relaxed memory order only: ordering is the task of the lock. It uses no heap, so that it
/// can lie in memory that processes share.
class Judge {
 public:
  static constexpr std::size_t rooms = 100;

  /// An exclusive visit. `guarded`: also accesses what would be a data race without the lock.
  void visit_alone(std::size_t number, std::uint64_t token, bool guarded) {
    Room& room = rooms_[number];
    if (room.writers.fetch_add(1, relaxed) != 0 || room.readers.load(relaxed) != 0) {
      ++violations.overlaps;
    }
    const std::uint64_t seen = room.updates.load(relaxed);
    if (guarded) {
      ++room.plain_updates;
      if (token != 0 && token <= room.last_token) ++violations.stale_tokens;
      if (token != 0) room.last_token = token;
    }
    dwell(room);
    room.updates_made.fetch_add(1, relaxed);
    room.updates.store(seen + 1, relaxed);
    room.writers.fetch_sub(1, relaxed);
  }

  void visit_shared(std::size_t number, bool guarded) {
    Room& room = rooms_[number];
    room.readers.fetch_add(1, relaxed);
    if (room.writers.load(relaxed) != 0) ++violations.overlaps;
    const std::uint64_t first = room.updates.load(relaxed);
    if (guarded && first != room.plain_updates) ++violations.torn_reads;
    dwell(room);
    if (room.updates.load(relaxed) != first || room.updates_made.load(relaxed) != first) {
      ++violations.torn_reads;
    }
    room.readers.fetch_sub(1, relaxed);
  }

  /// After all threads were joined.
  void settle() {
    for (const Room& room : rooms_) {
      const std::uint64_t made = room.updates_made.load();
      violations.lost_updates += made - room.updates.load();
    }
  }

  Violations violations;

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;

  /// As long as a short body takes.
  static void dwell(const Room& room) {
    for (int step = 0; step < 20; ++step) static_cast<void>(room.writers.load(relaxed));
  }

  std::array<Room, rooms> rooms_{};
};

/// Each key has one type for the whole run: a fifth of the keys each.
inline LockType type_of(std::size_t key) {
  constexpr LockType types[] = {LockType::REENTRANT, LockType::FAIR, LockType::WRITE,
                                LockType::FENCED, LockType::READ};
  return types[key % 5];  // READ: now and then a WRITE of the same key
}

}  // namespace latchkey::soak
