// A quorum as one backend: the effect of a reply on a hold.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <list>
#include <unordered_map>
#include <utility>

#include "backend/verbs.hpp"
#include "quorum/quorum_backend.hpp"

namespace latchkey::inline v1::detail::quorum {

using Kind = Outcome::Kind;

namespace {

/// A server that missed so many releases in a row is not waited for.
constexpr unsigned most_missed = 3;

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
    return !each.replied && missed_releases_[each.server] < most_missed;
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

}  // namespace latchkey::inline v1::detail::quorum
