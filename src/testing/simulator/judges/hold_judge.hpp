// Judges what callers are granted, how long it lasts and how long they wait for it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "testing/simulator/judges/history.hpp"
#include "testing/simulator/world.hpp"

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
  void check_exclusion(const KeyHistory& history, const GrantedHold& hold);
  void check_lease(GrantedHold& hold, const ClientHistory& client);
  [[nodiscard]] bool blocks_local_queue(std::uint32_t client, std::uint32_t key) const;

  World& world_;
  History& history_;
};

}  // namespace latchkey::inline v1::sim
