// A quorum as one backend: the hold at each server, and the effect of its reply.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "backend/verbs.hpp"
#include "quorum/quorum_backend.hpp"

namespace latchkey::inline v1::detail::quorum {

using Kind = Outcome::Kind;

namespace {

/// A server that missed so many releases in a row is not waited for.
constexpr unsigned most_missed_releases = 3;

}  // namespace

// The submitter holds under this id, or may still get it: no release was submitted.
bool QuorumBackend::live(const Operation& one) const noexcept {
  const auto known = known_.find(one.id);
  return known != known_.end() && known->second.wire == one.wire && !known->second.ending;
}

// A release waits for the servers that usually reply, because the release may not have reached them
// yet: Redis asks for the text of a script that it does not know. Nobody may drive the quorum after
// the outcome, and such a server would keep the key until the lease ends.
bool QuorumBackend::awaits_usual_servers(const Operation& one) const noexcept {
  if (!is_release(one.verb) || clock_.now() >= one.deadline) return false;
  return std::ranges::any_of(one.sub_requests, [&](const SubRequest& each) {
    return !each.replied && missed_releases_[each.server] < most_missed_releases;
  });
}

void QuorumBackend::decide(Operation& one, Later& later) noexcept {
  auto outcome = one.ballot.decision(names_);
  if (!outcome) return;
  if (awaits_usual_servers(one)) {
    const auto at_most = patience(Verb::acquire, one.lease);
    one.deadline = std::min(one.deadline, latchkey::later(clock_.now(), at_most));
    return;
  }
  one.decided = true;
  for (const SubRequest& sub_request : one.sub_requests) {
    if (sub_request.replied || sub_request.stage != SubRequest::Stage::under_way) continue;
    ++slow_[sub_request.server];
    if (is_release(one.verb)) ++missed_releases_[sub_request.server];
  }
  one.answer.front().outcome = std::move(*outcome);
  settle(one, later);
  if (one.giving_back == 0) return complete(one, later);
  one.deadline = latchkey::later(clock_.now(), patience(Verb::acquire, one.lease));
}

// A server that replies in time is waited for again.
void QuorumBackend::note_reply_to_release(const SubRequest& sub_request) noexcept {
  const Operation& one = *sub_request.of;
  const auto in_time = latchkey::later(sub_request.sent, patience(Verb::acquire, one.lease));
  const bool undecided = is_release(one.verb) && !one.decided;
  if (undecided || clock_.now() <= in_time) missed_releases_[sub_request.server] = 0;
}

void QuorumBackend::complete(Operation& one, Later& later) noexcept {
  if (!one.awaited()) return;
  later.answers.splice(later.answers.end(), one.answer);
  delivered_.splice(delivered_.end(), operations_, one.place);
}

void QuorumBackend::settle(Operation& one, Later& later) noexcept {
  const Kind kind = one.answer.front().outcome.kind;
  const auto known = known_.find(one.id);
  const bool ours = known != known_.end() && known->second.wire == one.wire;
  const bool granted = kind == Kind::granted;
  switch (one.verb) {
    case Verb::acquire:
      if (ours && (granted || known->second.held)) {
        known->second.held = true;
        return start_at_gate(gates_.open(one.id, servers_.size()), later);
      }
      if (kind == Kind::busy && one.type == LockType::WRITE) {
        start_at_gate(gates_.shut(one, {space_, ++last_id_}, clock_.now()), later);
      }
      // No majority, or released meanwhile: releases the grants, so that they do not block other
      // owners.
      if (ours) known_.erase(known);
      for (std::size_t server = 0; server < servers_.size(); ++server) {
        if (!one.ballot.may_hold(server)) continue;
        SubRequest& slot = one.idle_slot(server);
        give_back(slot, later);
        if (!one.ballot.granted(server)) continue;
        // This server replies, so the outcome waits for its release: the submitter may not drive
        // again for a long time, and a server that nobody drives may do nothing.
        slot.awaited = true;
        ++one.giving_back;
      }
      return;
    case Verb::release:
    case Verb::leave:
      if (ours && (granted || kind == Kind::gone)) known_.erase(known);
      return;
    default:
      if (ours && granted) known->second.lease = one.lease;
      if (!ours || kind != Kind::gone) return;
      // A submitter that receives `gone` sends no release, but a minority still has the hold.
      known_.erase(known);
      for (std::size_t server = 0; server < servers_.size(); ++server) {
        if ((*one.copies)[server].may_exist()) give_back(one.idle_slot(server), later);
      }
      return;
  }
}

void QuorumBackend::start_at_gate(std::list<Operation> change, Later& later) noexcept {
  if (change.empty()) return;
  Operation& made = change.front();
  made.place = change.begin();
  delivered_.splice(delivered_.end(), change);
  fill_in(made);
  for (SubRequest& sub_request : made.sub_requests) start(sub_request, later);
}

// The action that one server's reply requires at that server, whatever the others reply.
void QuorumBackend::follow_up(SubRequest& sub_request, const Outcome& outcome,
                              Later& later) noexcept {
  const Operation& one = *sub_request.of;
  if (one.is_gate) return;  // the gate's lease is short
  switch (sub_request.verb) {
    case Verb::acquire:
      if (outcome.kind == Kind::granted && !live(one)) give_back(sub_request, later);
      return;
    case Verb::renew:
      if (outcome.kind == Kind::gone && live(one)) repair(sub_request, later);
      return;
    case Verb::release:
    case Verb::leave:
      if (outcome.kind != Kind::unknown) note_reply_to_release(sub_request);
      if (outcome.kind != Kind::granted && outcome.kind != Kind::gone) repeat_later(sub_request);
      return end_wait_for(sub_request, later);
    default: return;
  }
}

// Releases what the server may have granted. `slot` is idle.
void QuorumBackend::give_back(SubRequest& slot, Later& later) noexcept {
  const Operation& one = *slot.of;
  slot.verb = one.downgraded ? Verb::leave : Verb::release;
  slot.type = one.downgraded ? LockType::WRITE : one.type;
  slot.repeat_until = latchkey::later(clock_.now(), one.lease);
  start(slot, later);
}

// Acquires the hold again at a server that has lost it. The server's vote counts from the next
// renewal on.
void QuorumBackend::repair(SubRequest& slot, Later& later) noexcept {
  slot.verb = Verb::acquire;
  start(slot, later);
}

// The joint outcome no longer waits for this release.
void QuorumBackend::end_wait_for(SubRequest& sub_request, Later& later) noexcept {
  if (!std::exchange(sub_request.awaited, false)) return;
  Operation& one = *sub_request.of;
  if (--one.giving_back == 0) complete(one, later);
}

void QuorumBackend::ask_servers(Operation& one, Later& later) noexcept {
  bool any_vote = false;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (auto vote = vote_without_asking(one, server)) {
      one.sub_requests[server].replied = any_vote = true;
      one.ballot.vote(server, *std::move(vote));
      continue;
    }
    if (!one.at_gate.empty()) start(one.at_gate[2 * server], later);
    start(one.sub_requests[server], later);
    if (!one.at_gate.empty()) start(one.at_gate[2 * server + 1], later);
  }
  if (!any_vote) return;
  decide(one, later);
  end_if_done(one, later);
}

// A server that is the same as another has no vote. No release is sent where nothing can be held,
// or where one is repeated already. The reasons are short enough to need no memory.
std::optional<Outcome> QuorumBackend::vote_without_asking(const Operation& one,
                                                          std::size_t server) noexcept {
  Outcome vote;
  if (is_release(one.verb)) {
    const Copy& copy = (*one.copies)[server];
    if (copy.may_exist() && !copy.repeating) return std::nullopt;
    if (copy.may_exist()) {
      vote.reason = "it is repeated already";
    } else {
      vote.kind = Outcome::Kind::gone;
    }
    return vote;
  }
  if (repeated_[server]) {
    vote.reason = "it is another";
  } else if (one.verb == Verb::acquire && is_suspended(server)) {
    vote.reason = "it is silent";
  } else {
    return std::nullopt;
  }
  vote.never_ran = true;
  return vote;
}

// A server that was too late for so many decisions without a single reply gets one acquire a
// second. More acquires would each leave something to be released, and nothing bounds their number.
bool QuorumBackend::is_suspended(std::size_t server) noexcept {
  constexpr unsigned most_missed_decisions = 1'000;
  if (slow_[server] < most_missed_decisions) return false;
  const Clock::time_point now = clock_.now();
  if (now < probe_at_[server]) return true;
  probe_at_[server] = latchkey::later(now, std::chrono::seconds(1));
  return false;
}

Copy* QuorumBackend::copy_of(const SubRequest& sub_request) noexcept {
  using Part = SubRequest::Part;
  const bool of_hold = sub_request.part == Part::main || sub_request.part == Part::undo;
  const auto& copies = sub_request.of->copies;
  return of_hold && copies != nullptr ? &(*copies)[sub_request.server] : nullptr;
}

void QuorumBackend::note_reply(const SubRequest& sub_request, const Outcome& outcome) noexcept {
  Copy* const copy = copy_of(sub_request);
  if (copy == nullptr) return;
  if (sub_request.verb == Verb::acquire) {
    --copy->acquiring;
    copy->possible = copy->possible || !outcome.never_ran;
  }
  if (is_release(sub_request.verb)) copy->repeating = false;
}

// If the reply to the acquire is still to come and says that it never ran, the next reply to the
// release ends its repetitions.
void QuorumBackend::repeat_later(SubRequest& sub_request) noexcept {
  const Clock::time_point now = clock_.now();
  Copy& copy = *copy_of(sub_request);
  if (now >= sub_request.repeat_until || !copy.may_exist()) return;
  copy.repeating = true;
  sub_request.stage = SubRequest::Stage::to_repeat;
  ++sub_request.of->open;
  repeats_[sub_request.server].add(sub_request, now);
}

void QuorumBackend::repeat_releases(Later& later) noexcept {
  const Clock::time_point now = clock_.now();
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    ReleaseBacklog& backlog = repeats_[server];
    if (now < backlog.due()) continue;
    backlog.drop_expired(now, [&](SubRequest& expired) { end_repetition(expired, later); });
    repeat_releases(server, 1, later);
  }
}

void QuorumBackend::repeat_releases(std::size_t server, std::size_t most, Later& later) noexcept {
  const Clock::time_point now = clock_.now();
  while (most > 0 && !repeats_[server].empty()) {
    SubRequest& release = repeats_[server].take(now);
    if (now >= release.repeat_until || !copy_of(release)->may_exist()) {
      end_repetition(release, later);
      continue;
    }
    release.stage = SubRequest::Stage::idle;
    --release.of->open;
    start(release, later);
    --most;
  }
}

void QuorumBackend::end_repetition(SubRequest& sub_request, Later& later) noexcept {
  Operation& one = *sub_request.of;
  sub_request.stage = SubRequest::Stage::idle;
  copy_of(sub_request)->repeating = false;
  --one.open;
  end_wait_for(sub_request, later);
  end_if_done(one, later);
}

}  // namespace latchkey::inline v1::detail::quorum
