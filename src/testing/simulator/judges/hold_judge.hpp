// Judges of what callers hold: never two at once, a loss is reported, and nobody starves.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include "testing/simulator/judges/history.hpp"
#include "testing/simulator/store/store.hpp"
#include "testing/simulator/world/world.hpp"

namespace latchkey::inline v1::sim {

/// Fails the run if two callers hold at once, a hold outlives its lease, a lost hold comes back, a
/// wait exceeds its bound, or the local queue waits for nobody.
class HoldJudge {
 public:
  HoldJudge(World& world, History& history) noexcept : world_(world), history_(history) {}

  /// A caller was granted `hold`.
  void granted(std::uint32_t key, GrantedHold hold);

  /// A call of an owner that may hold already asks for `lease`; 0: that has no bound.
  void asked(std::uint32_t key, std::uint32_t client, Owner owner, Clock::duration lease);

  /// A call with a bounded wait returned. It may last 50 ms longer than `until`, or than the grace
  /// for its first attempt if that is longer.
  void waited(std::uint32_t client, Clock::time_point until, milliseconds grace);

  /// The last local hold may have ended, and the lock is retained until `until`.
  void retained(std::uint32_t key, const GrantedHold& hold, Clock::time_point until);

  // --- what is observed and not judged ---
  /// A caller gives `hold` back, or its thread has ended.
  void dropped(std::uint32_t key, const GrantedHold& hold);
  /// A call of release() or extend() begins. `gives_back`: the hold ends with it.
  void called(std::uint32_t key, const GrantedHold& hold, bool gives_back);
  /// Such a call was answered.
  void told(std::uint32_t key, std::uint32_t client, std::uint32_t caller, bool answer);

  // --- around each event of a coordinator ---
  void before_event(std::uint32_t client, std::uint32_t key);
  void after_event(std::uint32_t client, std::uint32_t key);

  /// `waiting`: calls of the client wait in its local queue and none of them has a request under
  /// way. That is right only while a local hold lasts.
  void check_local_queue(std::uint32_t client, std::uint32_t key, bool waiting);

 private:
  void check_token(KeyHistory& history, const GrantedHold& hold, const AttemptRecord& attempt);
  /// Never more permits than there are, among holders who were not told.
  void check_permits(const KeyHistory& history, const GrantedHold& hold);
  void check_taken_idle(const KeyHistory& history, const GrantedHold& hold,
                        const AttemptRecord& attempt);
  static void note_limits(KeyHistory& history, GrantedHold& hold);
  [[nodiscard]] bool ends_too_early(const KeyHistory& history, const GrantedHold& hold) const;
  void check_exclusion(const KeyHistory& history, const GrantedHold& hold);
  void observe_grant(std::uint32_t key, GrantedHold& hold, const AttemptRecord& attempt);
  void observe_change(std::uint32_t key, GrantedHold& hold);
  void check_lease(const KeyHistory& history, GrantedHold& hold);
  [[nodiscard]] bool blocks_local_queue(std::uint32_t client, std::uint32_t key) const;

  World& world_;
  History& history_;
};

/// Promise 3: a hold that ends early at the store is reported lost within a third of its lease. The
/// promise holds for clients that the network does not disturb meanwhile.
class LossJudge {
 public:
  LossJudge(World& world, History& history, Store& store) noexcept
      : world_(world), history_(history), store_(store) {}

  /// The store lost what it had of `key`, or its clock jumped forward. Excuses what follows from
  /// that, and schedules a check for each holder.
  void store_fault(std::uint32_t key);

  /// A check is due.
  void check(const ScheduledEvent& event);

 private:
  /// Whether the network has disturbed the client since shortly before the last fault.
  [[nodiscard]] bool is_disturbed(const KeyHistory& history, std::uint32_t client) const;
  [[nodiscard]] Clock::duration detection_time(const GrantedHold& hold) const;

  World& world_;
  History& history_;
  Store& store_;
};

/// Fails the run if the store grants the contended key to other clients too often while a client
/// waits for it: that client starves. Holds that the calls of one client hand over among themselves
/// are one turn.
class TurnJudge {
 public:
  TurnJudge(World& world, const History& history)
      : world_(world), history_(history), clients_(history.clients.size()) {}

  /// A caller was granted `hold`.
  void granted(std::uint32_t key, const GrantedHold& hold);

 private:
  struct Client {
    std::uint64_t number = 0;      ///< the number of its last hold
    unsigned turns_of_others = 0;  ///< since it last had the key
  };

  [[nodiscard]] bool waits(std::uint32_t client, std::uint32_t key) const;
  /// Whether the client has the key, so that its calls wait for one another.
  [[nodiscard]] bool has(std::uint32_t client, std::uint32_t key) const;
  [[nodiscard]] unsigned most_turns_of_others(std::uint32_t client) const noexcept;

  World& world_;
  const History& history_;
  std::vector<Client> clients_;
};

}  // namespace latchkey::inline v1::sim
