// Judges of what callers hold: never two at once, and nobody starves.
// tidy: long-file because the life of a hold is judged in one place
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/judges/hold_judge.hpp"

#include <algorithm>
#include <string>
#include <utility>

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
  AttemptRecord& attempt = history_.attempt(hold.client, hold.number);
  check_taken_idle(history, hold, attempt);
  attempt.was_held = true;
  attempt.left_at = never_happened;
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
  note_limits(history, hold);
  check_exclusion(history, hold);
  if (hold.type == LockType::PERMIT && !hold.excused) check_permits(history, hold);
  if (hold.fenced && !hold.excused) check_token(history, hold, attempt);
  // A grant by a release may have been taken away before the process learned of it.
  if (!history_.is_live(hold) && !hold.excused) {
    world_.fail("granted what is lost already: " + hold.name());
  }
  for (GrantedHold& other : history.holds) observe_change(key, other);
  observe_grant(key, hold, attempt);
  history.holds.push_back(hold);
}

// A process that has heard of a waiter takes no idle hold any more. A call that takes a hold over
// does so when the one before it releases.
void HoldJudge::check_taken_idle(const KeyHistory& history, const GrantedHold& hold,
                                 const AttemptRecord& attempt) {
  const bool is_taken_over = attempt.left_at == world_.now;
  if (!world_.scenario.fault_free || is_taken_over || attempt.left_at == never_happened) return;
  const auto is_inside = [&](const GrantedHold& each) { return each.shares_id_with(hold); };
  if (std::ranges::any_of(history.holds, is_inside)) return;
  const Clock::duration since = history.waited_for_since(hold.client);
  const Clock::duration told = std::max(since, attempt.recall_asked);
  if (since == never_happened || world_.now - told <= world_.scenario.notice()) return;
  world_.fail("an idle hold was taken although another process waited: " + hold.name());
}

// A limit ends all holds of one id, also for a moment after its own hold has ended.
void HoldJudge::note_limits(KeyHistory& history, GrantedHold& hold) {
  hold.may_end_by_limit = hold.limit != 0;
  for (GrantedHold& other : history.holds) {
    if (!other.shares_id_with(hold)) continue;
    other.may_end_by_limit = other.may_end_by_limit || hold.limit != 0;
    hold.may_end_by_limit = hold.may_end_by_limit || other.may_end_by_limit;
  }
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
  bool is_inside = false, has_seen = false;  // there may be a READ, or a WRITE without a token
  for (const GrantedHold& other : history.holds) {
    if (!other.shares_id_with(hold)) continue;
    is_inside = true;
    has_seen = has_seen || other.fenced;
  }
  const auto is_of_block = [&](std::uint64_t last) {
    return token > 0 && last >= token && last - token < attempt.tokens;
  };
  const bool reserved = is_of_block(attempt.token) || is_of_block(attempt.earlier_token);
  if (!reserved) world_.fail("the caller's token is not one of those that the store gave");
  const bool same = token == history.shown_token;
  if (has_seen ? !same : token < history.shown_token || (same && !is_inside)) {
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
    return each.asked_until <= history_.clients[each.client].clock->now();
  });
  if (!history_.is_live(hold)) return;
  // The limit of a READ that has joined another one ends with its call.
  const Clock::time_point end = std::min(until, hold.hold->at_backend().deadline_point());
  history.retained.push_back(
      {hold.client, hold.number, hold.type, end, hold.excused, hold.permits, until});
}

void HoldJudge::before_event(std::uint32_t client, std::uint32_t key) {
  for (GrantedHold& hold : history_.keys[key].holds) {
    if (hold.client == client && !history_.is_live(hold)) hold.seen_lost = true;
  }
}

void HoldJudge::after_event(std::uint32_t client, std::uint32_t key) {
  for (GrantedHold& hold : history_.keys[key].holds) {
    if (hold.client != client) continue;
    observe_change(key, hold);
    check_lease(history_.keys[key], hold);
  }
}

void HoldJudge::observe_grant(std::uint32_t key, GrantedHold& hold, const AttemptRecord& attempt) {
  hold.observed = {++history_.keys[key].grants, hold.deadline};
  history_.observe(
      key, world_.now, "acquired",
      {hold.observed.number, std::int64_t{hold.client} + 1, static_cast<std::int64_t>(hold.owner),
       static_cast<std::int64_t>(hold.number), to_string(hold.type), std::int64_t{hold.permits},
       static_cast<std::int64_t>(hold.hold->token), history_.local_time(hold.client, hold.deadline),
       history_.local_time(hold.client, attempt.reply_sent), microseconds(attempt.reply_lease),
       microseconds(attempt.submitted_at)});
}

// lost() is observed when it returns what does not follow from the clock and what it returned
// before.
void HoldJudge::observe_change(std::uint32_t key, GrantedHold& hold) {
  GrantedHold::Observed& observed = hold.observed;
  const Clock::time_point now = history_.clients[hold.client].clock->now();
  const Clock::time_point deadline = hold.hold->deadline_point();
  if (deadline != observed.deadline) {
    const AttemptRecord& attempt = history_.attempt(hold.client, hold.number);
    history_.observe(key, world_.now, "moved",
                     {observed.number, history_.local_time(hold.client, deadline),
                      history_.local_time(hold.client, attempt.reply_sent),
                      microseconds(attempt.reply_lease), microseconds(attempt.reply_at)});
    observed.deadline = deadline;
  }
  const bool was_lost =
      observed.word == "lost" || (observed.word == "none" && now >= observed.deadline);
  const bool lost = hold.hold->is_lost(now);
  if (lost == was_lost) return;
  observed.word = lost ? "lost" : "held";
  history_.observe(key, world_.now, "word", {observed.number, observed.word});
}

void HoldJudge::dropped(std::uint32_t key, const GrantedHold& hold) {
  history_.attempt(hold.client, hold.number).left_at = world_.now;
  history_.observe(key, world_.now, "dropped", {hold.observed.number});
}

void HoldJudge::called(std::uint32_t key, const GrantedHold& hold, bool gives_back) {
  const bool lost = !history_.is_live(hold);
  if (gives_back) history_.attempt(hold.client, hold.number).left_at = world_.now;
  history_.observe(key, world_.now, "calls",
                   {hold.observed.number, std::int64_t{hold.caller}, gives_back, lost});
}

void HoldJudge::told(std::uint32_t key, std::uint32_t client, std::uint32_t caller, bool answer) {
  history_.observe(key, world_.now, "told",
                   {std::int64_t{client} + 1, std::int64_t{caller}, answer});
}

void HoldJudge::check_lease(const KeyHistory& history, GrantedHold& hold) {
  const ClientHistory& client = history_.clients[hold.client];
  const Clock::time_point deadline = hold.hold->deadline_point();
  if (deadline < hold.deadline) world_.fail("a deadline moved back: " + hold.name());
  if (deadline > history_.attempt(hold.client, hold.number).latest_deadline) {
    world_.fail("a deadline is later than the store's answers allow: " + hold.name());
  }
  const bool lost = hold.hold->is_lost(client.clock->now());
  if (hold.seen_lost && !lost) world_.fail("a lost hold came back: " + hold.name());
  // A lease has a resolution of 1 ms.
  const bool has_end = hold.is_first && hold.limit != 0;
  if (has_end && deadline > hold.limit_end + milliseconds(2)) {
    world_.fail("held for longer than held_at_most allows: " + hold.name());
  }
  const bool too_early = lost && !hold.was_lost && ends_too_early(history, hold);
  if (too_early && hold.hold->held_too_long) {
    world_.fail("held_at_most ended a hold too early: " + hold.name());
  }
  hold.was_lost = lost;
  hold.was_alone = hold.hold->local_holds() == 1;
  const bool renewed = hold.by_watchdog || hold.pinned;
  const bool by_limit = hold.may_end_by_limit && !too_early;
  if (lost && renewed && !by_limit && world_.scenario.fault_free && !client.closing) {
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

// The limit of a READ ends those that have joined it, too, which began later by the cohort at most.
// So does that of a call which has re-entered it.
bool HoldJudge::ends_too_early(const KeyHistory& history, const GrantedHold& hold) const {
  const Clock::time_point now = history_.clients[hold.client].clock->now();
  const auto has_ended = [&](const GrantedHold& each) {
    return each.shares_id_with(hold) && each.limit_end <= now + milliseconds(1);
  };
  const bool is_alone = hold.was_alone && hold.hold->local_holds() == 1;
  const bool alone = hold.is_first && hold.limit != 0 && is_alone;
  const milliseconds earlier =
      milliseconds(1) + (is_shared(hold.type) ? world_.scenario.settings.cohort : milliseconds(0));
  return alone && now + earlier < hold.limit_end && std::ranges::none_of(history.holds, has_ended);
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
           return each.client == client && now < each.asked_until;
         });
}

void TurnJudge::granted(std::uint32_t key, const GrantedHold& hold) {
  if (!world_.scenario.contended || world_.faults_stopped) return;
  Client& holder = clients_[hold.client];
  holder.turns_of_others = 0;
  if (std::exchange(holder.number, hold.number) == hold.number) return;
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    if (client == hold.client || !waits(client, key) || has(client, key)) continue;
    if (++clients_[client].turns_of_others > most_turns_of_others(client)) {
      world_.fail("client " + std::to_string(client) + " starves");
    }
  }
}

bool TurnJudge::waits(std::uint32_t client, std::uint32_t key) const {
  return std::ranges::any_of(history_.keys[key].waiters, [&](const KeyHistory::Waiter& waiter) {
    return waiter.client == client;
  });
}

bool TurnJudge::has(std::uint32_t client, std::uint32_t key) const {
  return std::ranges::any_of(history_.keys[key].holds, [&](const GrantedHold& hold) {
    return hold.client == client && history_.is_live(hold);
  });
}

// Twice what 60 000 seeds show, and of the second number, what half a million do. A client without
// a place in the process queue, as one that asks for a lease below a second, races for the key with
// the first of the queue, and with what arrives meanwhile.
unsigned TurnJudge::most_turns_of_others(std::uint32_t client) const noexcept {
  const std::vector<AttemptRecord>& attempts = history_.clients[client].attempts;
  const bool has_place = !attempts.empty() && attempts.back().place != 0;
  const bool races = world_.scenario.is_foreign(client) || !has_place;
  return races && clients_.size() > 2 ? 128 : 16;
}

}  // namespace latchkey::inline v1::sim
