// The promises about requests, grants of the store, and tokens.
// tidy: long-file because the life of a request at the store is judged in one place
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/judges/request_judge.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace latchkey::inline v1::sim {
namespace {

bool gives_back(Verb verb) noexcept { return verb == Verb::release || verb == Verb::leave; }

std::string name(KeyHistory::Holder holder) {
  return "client " + std::to_string(holder.client) + " hold " + std::to_string(holder.number);
}

/// Returns the part of a request for several keys that is about one of them.
Request acquire_of(const Request& request, const Member& member) {
  Request one = request;
  one.verb = Verb::acquire;
  one.key = member.key;
  one.type = member.type;
  one.id = member.id;
  one.fenced = member.fenced;
  one.members = {};
  return one;
}

template <class Visit>
void for_each_key(const Request& request, Visit visit) {
  if (request.verb != Verb::acquire_all) return visit(request);
  for (const Member& member : request.members) visit(acquire_of(request, member));
}

}  // namespace

void RequestJudge::submitted(std::uint32_t client, const Request& request, bool closing) {
  for_each_key(request, [&](const Request& one) { submitted_one(client, one, closing); });
}

void RequestJudge::submitted_one(std::uint32_t client, const Request& request, bool closing) {
  if (request.id.number == 0 || request.verb == Verb::unsubscribe) return;
  if (gives_back(request.verb)) return check_release(client, request, closing);
  AttemptRecord& attempt = history_.attempt(client, request.id.number);
  if (request.recall && attempt.recall_asked == never_happened) attempt.recall_asked = world_.now;
  if (keeps_calls_waiting(request)) {
    ++history_.clients[client].open_releases[world_.key_index(request.key)];
  }
  if (request.verb == Verb::acquire) {
    const std::uint64_t tokens = request.wants_token() ? request.tokens : 0;
    if (attempt.submitted_at != Clock::duration{} && attempt.tokens != tokens) {
      world_.fail("a repeated acquire reserves another number of tokens");
    }
    attempt.submitted_at = world_.now;
    attempt.tokens = tokens;
    attempt.type = request.type;
    attempt.lease = request.lease;
  }
  if (attempt.release_submitted) {
    world_.fail(std::string(to_string(request.verb)) +
                " was sent after its release: " + name({client, request.id.number}));
  }
}

void RequestJudge::check_release(std::uint32_t client, const Request& request, bool closing) {
  const std::uint32_t key = world_.key_index(request.key);
  history_.attempt(client, request.id.number).release_submitted = true;
  check_recall(history_.keys[key], {client, request.id.number});
  ++history_.clients[client].open_releases[key];
  const bool held = std::ranges::any_of(history_.keys[key].holds, [&](const GrantedHold& hold) {
    return hold.client == client && hold.number == request.id.number;
  });
  if (held && !closing) {
    world_.fail("a release was sent while a local hold is left: " +
                name({client, request.id.number}));
  }
}

void RequestJudge::applied(std::uint32_t client, const Request& request, const Outcome& outcome,
                           bool awaited) {
  for_each_key(request, [&](const Request& one) { applied_one(client, one, outcome); });
  if (request.verb == Verb::acquire && outcome.kind == Outcome::Kind::granted && !awaited) {
    history_.attempt(client, request.id.number).granted_to_copy = true;
  }
  if (gives_back(request.verb) && outcome.kind != Outcome::Kind::unknown) {
    check_not_left(client, request, "its release was carried out");
  }
  const bool checks = request.verb == Verb::renew || request.verb == Verb::verify;
  if (checks && awaited && outcome.kind == Outcome::Kind::gone && !is_write_again(request)) {
    check_not_left(client, request, "its holder will learn that it is gone");
  }
}

// Without an order of requests a release waits until the backend has shortened the lease.
bool RequestJudge::keeps_calls_waiting(const Request& request) const {
  const bool shortens = request.recall && request.verb == Verb::expire;
  return shortens && !world_.scenario.settings.in_order;
}

// A READ that was a WRITE: a late copy of its acquire took the WRITE once more. The release at the
// end of the local hold finds it.
bool RequestJudge::is_write_again(const Request& request) {
  return request.type == LockType::READ && !world_.scenario.settings.in_order &&
         store_.holds_as(LockType::WRITE, request.key, request.id);
}

void RequestJudge::applied_one(std::uint32_t client, const Request& request,
                               const Outcome& outcome) {
  const std::uint32_t index = world_.key_index(request.key);
  const KeyHistory& key = history_.keys[index];
  const KeyHistory::Holder holder{client, request.id.number};
  const bool granted = outcome.kind == Outcome::Kind::granted;
  if (request.verb == Verb::acquire && granted) {
    check_grant(key, holder, request.type);
    if (request.type == LockType::PERMIT) check_permits(key, holder, request.permits.taken);
    if (request.wants_token()) check_token(index, holder, outcome.token);
  }
  if (!world_.scenario.fault_free) return;
  follow(index, holder, request, granted);
  note_line(history_.keys[index], holder, request, outcome);
}

// Who waits in line, and no longer than that.
void RequestJudge::note_line(KeyHistory& key, KeyHistory::Holder holder, const Request& request,
                             const Outcome& outcome) {
  const auto place =
      std::ranges::find(key.in_line, holder, [](const auto& it) { return it.first; });
  const bool waits = request.verb == Verb::acquire && outcome.place != 0 &&
                     !is_shared(request.type) && request.type != LockType::FAIR;
  if (waits && place == key.in_line.end()) key.in_line.emplace_back(holder, world_.now);
  const bool ends = gives_back(request.verb) || request.verb == Verb::acquire;
  if (!waits && ends && place != key.in_line.end()) key.in_line.erase(place);
}

// A process that hears of a waiter gives back at once what nobody there holds.
void RequestJudge::check_recall(const KeyHistory& key, KeyHistory::Holder holder) {
  const AttemptRecord& attempt = history_.attempt(holder.client, holder.number);
  if (!world_.scenario.fault_free || !attempt.was_held || attempt.left_at == never_happened) return;
  if (history_.clients[holder.client].closing) return;  // what it retained
  const bool kept = std::ranges::any_of(key.retained, [&](const KeyHistory::Retained& each) {
    return each.client == holder.client && each.number == holder.number;
  });
  const Clock::duration since = key.waited_for_since(holder.client);
  if (kept || since == never_happened) return;
  if (world_.now - std::max(since, attempt.left_at) > world_.scenario.notice()) {
    world_.fail("an idle hold was kept although another process waited: " + name(holder));
  }
}

void RequestJudge::closed(std::uint32_t client, std::array<std::uint64_t, 2> space) {
  for (std::uint32_t index = 0; index < world_.keys.size(); ++index) {
    for (std::uint64_t number = 1; number < history_.clients[client].attempts.size(); ++number) {
      const auto is_same = [&](const GrantedHold& each) {
        return each.client == client && each.number == number;
      };
      const AttemptRecord& attempt = history_.attempt(client, number);
      if (attempt.release_submitted || (attempt.granted_to_copy && !attempt.was_held)) continue;
      if (std::ranges::any_of(history_.keys[index].holds, is_same)) continue;
      if (!store_.names(world_.keys[index], {space, number})) continue;
      world_.fail("close left the store " + name({client, number}));
    }
  }
}

// A release granted the lock to a client in the process queue.
void RequestJudge::granted(std::uint32_t client, const Notification& notification) {
  const std::uint32_t index = world_.key_index(notification.key);
  KeyHistory& key = history_.keys[index];
  const KeyHistory::Holder holder{client, notification.id.number};
  AttemptRecord& attempt = history_.attempt(client, notification.id.number);
  attempt.grants.emplace_back(notification.place, world_.now);
  check_grant(key, holder, attempt.type);
  if (notification.token != 0) check_token(index, holder, notification.token);
  if (!world_.scenario.fault_free) return;
  if (attempt.type == LockType::FAIR) key.granted_by_release.push_back(holder);
  key.unnoticed.emplace_back(holder, world_.now);
  std::erase_if(key.in_line, [&](const auto& each) { return each.first == holder; });
  key.free_since = never_happened;
  if (attempt.type == LockType::WRITE) key.kept_for_writer = never_happened;
  if (std::ranges::find(key.holders, holder) == key.holders.end()) key.holders.push_back(holder);
}

// The grant is as old as the last attempt that was answered with its place, or younger.
void RequestJudge::notified(std::uint32_t client, const Notification& notification) {
  if (notification.kind != Notification::Kind::granted) return;
  AttemptRecord& attempt = history_.attempt(client, notification.id.number);
  const bool fair = attempt.type == LockType::FAIR;
  if (fair ? attempt.place > notification.place : attempt.place != notification.place) return;
  for (const auto& [place, at] : attempt.grants) {
    if (place == notification.place) attempt.submitted_at = at;
  }
  allow_deadline(attempt, attempt.place_sent,
                 std::min<Clock::duration>(attempt.lease, fair ? fair_grant_lease : grant_lease));
}

void RequestJudge::allow_deadline(AttemptRecord& attempt, Clock::time_point sent,
                                  Clock::duration lease) const {
  const Clock::duration least = milliseconds(5);
  const Clock::time_point deadline = sent + lease - std::max(lease / 100, least);
  if (deadline <= attempt.latest_deadline) return;
  attempt.latest_deadline = deadline;
  attempt.reply_sent = sent;
  attempt.reply_lease = lease;
  attempt.reply_at = world_.now;
}

void RequestJudge::check_grant(const KeyHistory& key, KeyHistory::Holder holder, LockType type) {
  const auto compatible = [&](const auto& other) {
    const bool same = other.client == holder.client && other.number == holder.number;
    return same || other.excused || (is_shared(other.type) && is_shared(type));
  };
  for (const GrantedHold& other : key.holds) {
    if (compatible(other)) continue;
    if (history_.is_live(other)) {
      world_.fail("the store granted to " + name(holder) + " what is not lost to " + other.name());
    } else if (history_.is_delayed(other)) {
      world_.fail("the store granted to " + name(holder) + " within the lock_delay of " +
                  other.name());
    }
  }
  for (const KeyHistory::Retained& other : key.delayed) {
    if (compatible(other) || history_.clients[other.client].clock->now() >= other.until) continue;
    world_.fail("the store granted to " + name(holder) + " within the lock_delay of " +
                name({other.client, other.number}) + ", whose process crashed");
  }
  for (const KeyHistory::Retained& other : key.retained) {
    if (compatible(other) || history_.clients[other.client].clock->now() >= other.until) continue;
    world_.fail("the store granted what was to be kept for a while");
  }
}

// Never more permits than there are, among holders who were not told.
void RequestJudge::check_permits(const KeyHistory& key, KeyHistory::Holder holder,
                                 std::uint32_t taken) {
  const std::uint32_t others = history_.permits_held(key, holder.client, holder.number);
  if (others + taken <= Scenario::permits) return;
  world_.fail("the store granted permits to " + name(holder) + " that are not lost to others");
}

// The answer to a repeated acquire carries the token of the first.
void RequestJudge::check_token(std::uint32_t index, KeyHistory::Holder holder,
                               std::uint64_t token) {
  KeyHistory& key = history_.keys[index];
  AttemptRecord& attempt = history_.attempt(holder.client, holder.number);
  if (token == 0) world_.fail("a grant has no fencing token");
  if (attempt.token == token) return;
  history_.observe(
      index, world_.now, "issued",
      {static_cast<std::int64_t>(token - attempt.tokens + 1), static_cast<std::int64_t>(token)});
  if (token <= key.token) world_.fail("a fencing token did not rise");
  attempt.earlier_token = attempt.token;
  attempt.token = key.token = token;
}

// A hold without a holder and without a pending release stays for its whole lease.
void RequestJudge::check_not_left(std::uint32_t client, const Request& request,
                                  std::string_view when) {
  if (request.id.number == 0 || !store_.names(request.key, request.id)) return;
  world_.fail("the store has " + name({client, request.id.number}) + " yet although " +
              std::string(when));
}

void RequestJudge::follow(std::uint32_t index, KeyHistory::Holder holder, const Request& request,
                          bool granted) {
  KeyHistory& key = history_.keys[index];
  const bool queues = request.type == LockType::FAIR && request.queue_wait.count() > 0;
  if (request.verb == Verb::acquire && granted) {
    const bool has_it = std::ranges::find(key.holders, holder) != key.holders.end();
    if (request.type == LockType::FAIR && !has_it) check_order(index, holder);
    check_promptness(key);
    if (request.type == LockType::WRITE) key.kept_for_writer = never_happened;
    if (!has_it) key.holders.push_back(holder);
  } else if (request.verb == Verb::acquire && queues) {
    if (std::ranges::find(key.queue, holder) == key.queue.end()) {
      key.queue.push_back(holder);
      observe_queue(index, "joined", holder);
    }
  } else if (request.verb == Verb::acquire && request.type == LockType::WRITE) {
    key.kept_for_writer = std::max(key.kept_for_writer, world_.now + request.queue_wait);
  } else if (gives_back(request.verb)) {
    if (std::erase(key.queue, holder) > 0) observe_queue(index, "left", holder);
    const bool held = std::erase(key.holders, holder) > 0;
    if (granted && held && key.holders.empty()) key.free_since = world_.now;
  }
  for (const KeyHistory::Holder each : std::exchange(key.granted_by_release, {})) {
    check_order(index, each);
  }
  check_grants_are_noticed(key);
}

// A lost wake-up leaves the lock free until a waiter's safety poll, 1 s later.
void RequestJudge::check_promptness(KeyHistory& key) {
  const Clock::duration free = std::exchange(key.free_since, never_happened);
  const Clock::duration since = free == never_happened ? free : std::max(free, key.kept_for_writer);
  const Clock::duration bound = world_.scenario.notice();
  const bool prompt = since == never_happened || world_.now - since <= bound;
  if (prompt || !world_.scenario.settings.pushes) return;
  for (const KeyHistory::Waiter& waiter : key.waiters) {
    if (waiter.since >= since) continue;
    world_.fail("client " + std::to_string(waiter.client) + " waited although the lock was free");
  }
}

// Nobody would give back what was granted to a call that had given up without leaving the queue.
void RequestJudge::check_grants_are_noticed(KeyHistory& key) {
  const Clock::duration bound = world_.scenario.notice();
  std::erase_if(key.unnoticed, [&](const auto& each) {
    const auto& [holder, since] = each;
    if (history_.attempt(holder.client, holder.number).release_submitted) return true;
    if (world_.now - since > bound) world_.fail("a release granted to nobody: " + name(holder));
    return world_.now - since > bound;
  });
}

void RequestJudge::observe_queue(std::uint32_t key, std::string_view kind,
                                 KeyHistory::Holder holder) {
  history_.observe(key, world_.now, kind,
                   {std::int64_t{holder.client} + 1, static_cast<std::int64_t>(holder.number)});
}

void RequestJudge::check_order(std::uint32_t index, KeyHistory::Holder holder) {
  KeyHistory& key = history_.keys[index];
  observe_queue(index, "served", holder);
  const auto place = std::ranges::find(key.queue, holder);
  if (place != key.queue.begin()) {
    world_.fail("FAIR: " + name(holder) + " was granted before its turn");
  }
  if (place != key.queue.end()) key.queue.erase(place);
}

void RequestJudge::answered(std::uint32_t client, const Request& request, const Outcome& outcome) {
  for_each_key(request, [&](const Request& one) { answered_one(client, one, outcome); });
}

void RequestJudge::answered_one(std::uint32_t client, const Request& request,
                                const Outcome& outcome) {
  const std::uint32_t key = world_.key_index(request.key);
  if (gives_back(request.verb) || keeps_calls_waiting(request)) {
    --history_.clients[client].open_releases[key];
  }
  const bool leases = request.verb == Verb::acquire || request.verb == Verb::renew ||
                      request.verb == Verb::downgrade;
  if (!leases) return;
  AttemptRecord& attempt = history_.attempt(client, request.id.number);
  if (outcome.place != 0) {
    attempt.place = outcome.place;
    attempt.place_sent = request.sent;
  }
  if (outcome.kind == Outcome::Kind::granted) {
    allow_deadline(attempt, request.sent, request.lease);
  }
}

}  // namespace latchkey::inline v1::sim
