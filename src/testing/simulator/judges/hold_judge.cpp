// The promises about holds and waits.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/judges/hold_judge.hpp"

#include <algorithm>

namespace latchkey::inline v1::sim {
namespace {

bool conflict(const GrantedHold& left, const GrantedHold& right) noexcept {
  const bool both_shared = is_shared(left.type) && is_shared(right.type);
  return !left.shares_id_with(right) && !both_shared;
}

/// 0: there is no bound.
Clock::duration longest(Clock::duration one, Clock::duration other) noexcept {
  return std::min(one, other) == Clock::duration::zero() ? Clock::duration::zero()
                                                         : std::max(one, other);
}

}  // namespace

void HoldJudge::granted(std::uint32_t key, GrantedHold hold) {
  KeyHistory& history = history_.keys[key];
  const AttemptRecord& attempt = history_.attempt(hold.client, hold.number);
  hold.deadline = hold.hold->deadline_point();
  hold.excused = history.fault_at >= attempt.submitted_at;
  std::erase_if(history.unnoticed, [&](const auto& grant) {
    return grant.first == KeyHistory::Holder{hold.client, hold.number};
  });
  for (const GrantedHold& other : history.holds) {
    if (!other.shares_id_with(hold)) continue;
    const bool both_shared = is_shared(other.type) && is_shared(hold.type);
    if (other.owner != hold.owner && !both_shared) {
      world_.fail("a hold was re-entered by another owner");
    }
    if (hold.type == LockType::PERMIT) world_.fail("two calls hold the same permits");
    hold.excused = other.excused;
    if (other.owner == hold.owner) hold.asked = longest(other.asked, hold.asked);
  }
  check_exclusion(history, hold);
  if (hold.type == LockType::PERMIT && !hold.excused) check_permits(history, hold);
  if (hold.type == LockType::FENCED && !hold.excused) check_token(history, hold, attempt);
  // A grant by a release may have been taken away before the process learned of it.
  if (!history_.is_live(hold) && !hold.excused) {
    world_.fail("granted what is lost already: " + hold.name());
  }
  history.holds.push_back(hold);
}

void HoldJudge::asked(std::uint32_t key, std::uint32_t client, Owner owner, Clock::duration lease) {
  for (GrantedHold& hold : history_.keys[key].holds) {
    const bool same = hold.client == client && hold.owner == owner.number();
    if (same) hold.asked = longest(hold.asked, lease);
  }
}

// The calls of one process may hold under one id in turn, each with a token of the block that the
// store gave for that id. A copy of an acquire_all that arrives after one of its keys was freed by
// force gives all members a new token, which nobody gets to know.
void HoldJudge::check_token(KeyHistory& history, const GrantedHold& hold,
                            const AttemptRecord& attempt) {
  const std::uint64_t token = hold.hold->token;
  const bool reentered = std::ranges::any_of(
      history.holds, [&](const GrantedHold& other) { return other.shares_id_with(hold); });
  const auto is_of_block = [&](std::uint64_t last) {
    return token > 0 && last >= token && last - token < attempt.tokens;
  };
  const bool reserved = is_of_block(attempt.token) || is_of_block(attempt.earlier_token);
  if (!reserved) world_.fail("the caller's token is not one of those that the store gave");
  if (reentered ? token != history.shown_token : token <= history.shown_token) {
    world_.fail("a caller's token did not rise");
  }
  history.shown_token = token;
}

void HoldJudge::check_exclusion(const KeyHistory& history, const GrantedHold& hold) {
  for (const GrantedHold& other : history.holds) {
    const bool excused = other.excused || hold.excused;
    if (!conflict(other, hold) || !history_.is_live(other) || excused) continue;
    world_.fail("two hold at the same time: " + other.name() + " and " + hold.name());
  }
}

void HoldJudge::check_permits(const KeyHistory& history, const GrantedHold& hold) {
  const std::uint32_t others = history_.permits_held(history, hold.client, hold.number);
  if (hold.hold->permits() != hold.permits) world_.fail("granted another number of permits");
  if (others + hold.permits <= Scenario::permits) return;
  world_.fail("more permits are held than there are: with " + hold.name());
}

void HoldJudge::waited(std::uint32_t client, Clock::time_point until, milliseconds grace) {
  const ClientHistory& its = history_.clients[client];
  const Clock::duration end = std::max(its.clock->truth_at(until), its.awake_since);
  constexpr milliseconds late{50};
  const milliseconds allowed = grace > late ? grace + late : late;
  if (world_.now > end + allowed) world_.fail("a wait lasted longer than it may");
}

void HoldJudge::retained(std::uint32_t key, const GrantedHold& hold, Clock::time_point until) {
  KeyHistory& history = history_.keys[key];
  const auto same = [&](const GrantedHold& other) {
    return other.shares_id_with(hold) && other.owner == hold.owner;
  };
  if (std::ranges::any_of(history.holds, same)) return;
  std::erase_if(history.retained, [&](const KeyHistory::Retained& each) {
    return each.until <= history_.clients[each.client].clock->now();
  });
  if (!history_.is_live(hold)) return;
  until = std::min(until, hold.hold->deadline_point());
  history.retained.push_back(
      {hold.client, hold.number, hold.type, until, hold.excused, hold.permits});
}

void HoldJudge::before_event(std::uint32_t client, std::uint32_t key) {
  for (GrantedHold& hold : history_.keys[key].holds) {
    if (hold.client == client && !history_.is_live(hold)) hold.seen_lost = true;
  }
}

void HoldJudge::after_event(std::uint32_t client, std::uint32_t key) {
  for (GrantedHold& hold : history_.keys[key].holds) {
    if (hold.client == client) check_lease(hold, history_.clients[client]);
  }
}

void HoldJudge::check_lease(GrantedHold& hold, const ClientHistory& client) {
  const Clock::time_point deadline = hold.hold->deadline_point();
  if (deadline < hold.deadline) world_.fail("a deadline moved back: " + hold.name());
  if (deadline > history_.attempt(hold.client, hold.number).latest_deadline) {
    world_.fail("a deadline is later than the store's answers allow: " + hold.name());
  }
  const bool lost = hold.hold->is_lost(client.clock->now());
  if (hold.seen_lost && !lost) world_.fail("a lost hold came back: " + hold.name());
  const bool renewed = hold.by_watchdog || hold.pinned;
  if (lost && renewed && world_.scenario.fault_free && !client.closing) {
    world_.fail("the watchdog lost a hold on a good network: " + hold.name());
  }
  // A call that waits for a hold of its own owner has asked before that was granted.
  const bool bounded = hold.asked > Clock::duration::zero() && hold.type != LockType::READ &&
                       !world_.scenario.shares_owners;
  if (bounded && deadline > hold.deadline && deadline > client.clock->now() + hold.asked) {
    world_.fail("held for longer than its owner has asked for: " + hold.name());
  }
  hold.deadline = deadline;
}

// The queue may wait without a reason for 10 ms, which a timer may take.
void HoldJudge::check_local_queue(std::uint32_t client, std::uint32_t key, bool waiting) {
  const ClientHistory& its = history_.clients[client];
  Clock::duration& since = history_.clients[client].stalled_since[key];
  const bool stalled = waiting && !blocks_local_queue(client, key);
  if (stalled && since == never_happened) since = world_.now;
  if (stalled) return;
  if (!waiting && since != never_happened) {
    const Clock::duration from = std::max(since, its.awake_since);
    if (world_.now - from > milliseconds(10)) world_.fail("the local queue waits for nobody");
  }
  since = never_happened;
}

bool HoldJudge::blocks_local_queue(std::uint32_t client, std::uint32_t key) const {
  const ClientHistory& its = history_.clients[client];
  const KeyHistory& history = history_.keys[key];
  const Clock::time_point now = its.clock->now();
  return its.open_releases[key] > 0 ||
         std::ranges::any_of(history.holds,
                             [&](const GrantedHold& hold) {
                               return hold.client == client && history_.is_live(hold);
                             }) ||
         std::ranges::any_of(history.retained, [&](const KeyHistory::Retained& each) {
           return each.client == client && now < each.until;
         });
}

}  // namespace latchkey::inline v1::sim
