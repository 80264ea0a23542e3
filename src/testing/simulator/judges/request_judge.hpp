// Judges the requests that clients send and what the store makes of them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "testing/simulator/judges/history.hpp"
#include "testing/simulator/store/store.hpp"
#include "testing/simulator/world/world.hpp"

namespace latchkey::inline v1::sim {

/// Fails the run if a request is sent out of order, the store grants what somebody holds, tokens do
/// not rise, or the store keeps a hold that nobody will release. A request for several keys counts
/// as one acquire of each.
class RequestJudge {
 public:
  RequestJudge(World& world, History& history, Store& store) noexcept
      : world_(world), history_(history), store_(store) {}

  /// `closing`: the client closes, so that it releases what callers hold.
  void submitted(std::uint32_t client, const Request& request, bool closing);
  /// The store carried it out. `awaited`: the client may still learn the outcome.
  void applied(std::uint32_t client, const Request& request, const Outcome& outcome, bool awaited);
  void granted(std::uint32_t client, const Notification& notification);
  void notified(std::uint32_t client, const Notification& notification);
  void answered(std::uint32_t client, const Request& request, const Outcome& outcome);
  /// The client, whose holds begin with `space`, has just closed.
  void closed(std::uint32_t client, std::array<std::uint64_t, 2> space);

 private:
  void allow_deadline(AttemptRecord& attempt, Clock::time_point sent, Clock::duration lease) const;
  void submitted_one(std::uint32_t client, const Request& request, bool closing);
  [[nodiscard]] bool is_write_again(const Request& request);
  [[nodiscard]] bool keeps_calls_waiting(const Request& request) const;
  void applied_one(std::uint32_t client, const Request& request, const Outcome& outcome);
  void answered_one(std::uint32_t client, const Request& request, const Outcome& outcome);
  void check_release(std::uint32_t client, const Request& request, bool closing);
  void check_grant(const KeyHistory& key, KeyHistory::Holder holder, LockType type);
  void check_permits(const KeyHistory& key, KeyHistory::Holder holder, std::uint32_t taken);
  void check_token(std::uint32_t key, KeyHistory::Holder holder, std::uint64_t token);
  void check_not_left(std::uint32_t client, const Request& request, std::string_view when);

  // --- scenarios without faults ---
  void follow(std::uint32_t index, KeyHistory::Holder holder, const Request& request, bool granted);
  void check_promptness(KeyHistory& key);
  void check_grants_are_noticed(KeyHistory& key);
  void note_line(KeyHistory& key, KeyHistory::Holder holder, const Request& request,
                 const Outcome& outcome);
  void check_recall(const KeyHistory& key, KeyHistory::Holder holder);
  void check_order(std::uint32_t index, KeyHistory::Holder holder);
  /// The queue of FAIR changes.
  void observe_queue(std::uint32_t key, std::string_view kind, KeyHistory::Holder holder);

  World& world_;
  History& history_;
  Store& store_;
};

}  // namespace latchkey::inline v1::sim
