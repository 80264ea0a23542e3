// The threads of a worker, which visit critical sections and record each visit.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <random>

#include "chaos/worker/lock_source.hpp"
#include "chaos/worker/shared_state.hpp"

namespace latchkey::chaos {

/// | key | types                   |
/// |-----|-------------------------|
/// | 0   | REENTRANT; two threads of each worker ask for it all the time |
/// | 1   | FENCED                  |
/// | 2   | READ, WRITE             |
/// | 3   | FAIR                    |
/// | 4   | REENTRANT, FAIR, FENCED |
/// | 5   | READ, WRITE, FENCED     |
/// | 6   | FENCED                  |
/// | 7   | all five                |
/// | 8   | PERMIT: a semaphore     |
///
/// Some of their names are alike: see key_names.
/// A worker of Redisson asks for other types: see redisson_type.
/// A thread leaves out what its source cannot do (LockSource::abilities).
class Workload {
 public:
  struct Place {
    std::uint32_t worker = 0, thread = 0;
    std::uint64_t seed = 0;
    bool plain = false;     ///< REENTRANT only, and long visits: for clients without types
    bool redisson = false;  ///< locks with Redisson
    bool idle = false;      ///< one thread nearly always asks for a key of its worker's own
    LockTypes types = 0;    ///< that are offered; REENTRANT instead of another one
  };

  Workload(SharedState& shared, Place place, LockSource& source)
      : shared_(shared),
        place_(place),
        source_(source),
        abilities_(source.abilities()),
        log_(shared.workers.at(place.worker).threads.at(place.thread)),
        random_(place.seed + place.thread) {}

  /// Visits while the phase is `run`; returns when it is `over`.
  void run();

 private:
  [[nodiscard]] bool is_hot() const noexcept { return place_.thread < hot_threads; }
  Request draw_request();
  void draw_key(Request& request);
  Request draw_request_for(Wish wish);
  LockType draw_type(std::uint32_t key);
  LockType draw_usual_type(std::uint32_t key);
  Nanos draw_dwell(const Visit& visit);
  Nanos draw_long_dwell(const Visit& visit);
  bool listens(const Visit& visit, Nanos length);
  Wish take_wish();
  Lack take_lack();
  std::size_t draw_allocation(const Visit& visit);  ///< the one that fails; 0: none
  void visit_once();
  void enter(Visit& visit, HeldLock& held);
  void dwell(Visit& visit, const HeldLock& held, Nanos length);
  void hang(Visit& visit, const HeldLock& held);
  bool ask(Visit& visit, const HeldLock& held);
  void read_fenced(Visit& visit, std::uint64_t& value);
  void write(Visit& visit, std::uint64_t fenced_value);
  void fork_once(Visit& visit, HeldLock& held);
  void pace();

  SharedState& shared_;
  const Place place_;
  LockSource& source_;
  const Abilities abilities_;
  VisitLog& log_;
  std::mt19937_64 random_;
  bool reads_ = false;  // an idle worker whose key is one for WRITE
};

}  // namespace latchkey::chaos
