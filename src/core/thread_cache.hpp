// Spare records of the calling thread.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>

namespace latchkey::inline v1::detail {

/// Keeps a few spare records of one kind for each thread. A thread reuses the records that it
/// released while they are still in its processor's cache, and unrelated threads do not contend for
/// a pool. `Record` is default constructible and has the members
///
///     Record* next;  void reset() noexcept;
///
/// The cache uses `next` while a record is spare. The spares of a thread are deleted when it ends.
/// This is what Bonwick calls a magazine ("Magazines and Vmem", 2001), without a depot.
template <class Record>
class ThreadCache {
 public:
  /// The maximum number of spare records of one thread.
  static constexpr std::size_t most = 32;

  /// A record in its initial state. Throws std::bad_alloc.
  [[nodiscard]] static Record& take() {
    if (spares.first == nullptr) [[unlikely]] {
      return *new Record;
    }
    --spares.size;
    return *std::exchange(spares.first, spares.first->next);
  }

  static void give_back(Record& record) noexcept {
    if (spares.size >= spares.room && !make_room()) [[unlikely]] {
      delete &record;
      return;
    }
    record.reset();
    record.next = std::exchange(spares.first, &record);
    ++spares.size;
  }

 private:
  // Trivially destructible, so that it can be used while a thread's other thread_local objects are
  // destroyed: one of them may contain a hold. `room` is 0 before the reaper is made and after it
  // ran.
  struct Spares {
    Record* first = nullptr;
    std::size_t size = 0;
    std::size_t room = 0;
    bool reaped = false;
  };

  struct Reaper {
    ~Reaper() {
      spares.reaped = true;
      spares.room = 0;
      while (spares.first != nullptr) delete std::exchange(spares.first, spares.first->next);
    }
  };

  [[gnu::noinline]] static bool make_room() noexcept {
    if (spares.reaped || spares.room != 0) return false;
    thread_local const Reaper reaper;
    static_cast<void>(reaper);
    spares.room = most;
    return true;
  }

  static constinit inline thread_local Spares spares{};
};

}  // namespace latchkey::inline v1::detail
