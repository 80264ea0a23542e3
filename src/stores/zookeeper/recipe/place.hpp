// A place in a lock's queue.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

#include "stores/zookeeper/recipe/ticket.hpp"

namespace latchkey::inline v1::detail::zookeeper {

struct Line;

/// A request of a place: it waits for its turn, or is under way.
struct Job {
  Request* request = nullptr;
  Sink* sink = nullptr;
  bool searched = false;  ///< release: the entries were searched for its owner
  bool is_busy = false;   ///< acquire: it ends as busy when its entry is deleted
};

/// The place of one id in the queue of one key. Its requests run one after the other.
///
/// | stage    | meaning                                    | next                           |
/// |----------|--------------------------------------------|--------------------------------|
/// | absent   | there is no entry                          | creating; unsure by a release  |
/// | creating | the entry is being made                    | ordering; unsure if the        |
/// |          |                                            | connection ends                |
/// | ordering | it was made, the entries are being read    | waiting, held, removing (busy) |
/// | waiting  | it waits for its predecessor, or, once     | first, held, removing          |
/// |          | that is deleted, looks at its own entry    |                                |
/// | first    | nobody is before it; its owner was told,   | held by an acquire, removing   |
/// |          | but has not taken the lock                 |                                |
/// | held     | its owner holds the lock                   | removing; absent if taken away |
/// | removing | the entry is being deleted, or will be     | absent                         |
/// |          | when the connection is back                |                                |
/// | unsure   | there may be an entry: the entries are     | waiting, absent                |
/// |          | searched for its owner                     |                                |
///
/// The end of the session leads from each to absent.
struct Place {
  enum class Stage : std::uint8_t {
    absent,
    creating,
    ordering,
    waiting,
    first,
    held,
    removing,
    unsure
  };

  Line* line = nullptr;
  HoldId id;
  LockType type = LockType::REENTRANT;
  Stage stage = Stage::absent;
  Ticket ticket;            ///< the entry, from ordering on
  std::uint64_t stamp = 0;  ///< when the entry was made: it only rises; 0: not known
  std::uint32_t tokens = 1;
  std::string watched;                ///< the name of the predecessor whose deletion is awaited
  bool watched_is_last = false;       ///< Predecessor::is_last
  bool looks_at_own = false;          ///< the last predecessor is gone, the own entry is checked
  bool behind_foreign = false;        ///< the predecessor is of another library
  Sink* sink = nullptr;               ///< gets notifications: the last acquire's sink
  std::chrono::milliseconds lease{};  ///< the last acquire's lease
  bool queues = false;                ///< Request::queues of the last acquire
  bool listens = false;               ///< FAIR: subscribed
  bool converts = false;  ///< unsure: the connection ended while a writer became a reader
  std::string note;       ///< Request::note
  Clock::time_point ends = Clock::never();  ///< the lease or, without one, the place
  std::deque<Job> jobs;                     ///< the first one is under way
  unsigned operations = 0;                  ///< how many the store has under way

  [[nodiscard]] bool has_entry() const noexcept {
    return stage == Stage::waiting || stage == Stage::first || stage == Stage::held;
  }
  [[nodiscard]] bool is_idle() const noexcept {
    return stage == Stage::absent && jobs.empty() && operations == 0 && !listens;
  }
};

/// The places of this process in the queue of one key.
struct Line {
  std::string key;
  std::vector<std::unique_ptr<Place>> places;
  bool reads = false;        ///< the entries are being read for the line, not for one place
  bool reads_again = false;  ///< and are to be read once more after that
};

}  // namespace latchkey::inline v1::detail::zookeeper
