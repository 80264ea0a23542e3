// Spare records of the calling thread.
#pragma once

#include <cstddef>
#include <utility>

namespace latchkey::detail {

/// A few spare records of one kind for each thread, so that what one releases it takes again while
/// it is still in its processor's cache, and threads that have nothing to do with each other do not
/// meet at a pool. `Record` is default constructible and has the members
///
///     Record* next;  void reset() noexcept;
///
/// of which the cache uses `next` while a record is spare. The spares of a thread end with it. What
/// Bonwick calls a magazine ("Magazines and Vmem", 2001), without a depot.
template <class Record>
class ThreadCache {
 public:
  /// So many are kept at most.
  static constexpr std::size_t most = 32;

  /// As new. Throws std::bad_alloc.
  [[nodiscard]] static Record& take() {
    if (spares.first == nullptr) return *new Record;
    --spares.size;
    return *std::exchange(spares.first, spares.first->next);
  }

  static void give_back(Record& record) noexcept {
    if (spares.size >= spares.room && !make_room()) {
      delete &record;
      return;
    }
    record.reset();
    record.next = std::exchange(spares.first, &record);
    ++spares.size;
  }

 private:
  // Without a destructor, so that it can be used while a thread's other locals are destroyed: a
  // hold may live in one of them. There is no room before the reaper is made, and none after it
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

  static bool make_room() noexcept {
    if (spares.reaped || spares.room != 0) return false;
    thread_local const Reaper reaper;
    static_cast<void>(reaper);
    spares.room = most;
    return true;
  }

  static constinit inline thread_local Spares spares{};
};

}  // namespace latchkey::detail
