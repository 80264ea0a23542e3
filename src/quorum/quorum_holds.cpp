// A quorum as one backend: the effect of a reply on a hold, and the gate.
//
// The gate lets a WRITE in although READs overlap. It is a second key beside each key with READs:
// an acquire of a READ also acquires the gate as a READ and releases it at once. A WRITE that stays
// busy for a second acquires the gate as a WRITE; READs then count as busy until it has got in.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "backend/verbs.hpp"
#include "quorum/quorum_backend.hpp"

namespace latchkey::inline v1::detail::quorum {

using Kind = Outcome::Kind;

namespace {

/// The time between two releases to a server that does not reply.
constexpr std::chrono::seconds repeat_pause{1};
/// A server that missed so many releases in a row is not waited for.
constexpr unsigned most_missed = 3;

using namespace std::chrono_literals;

/// A WRITE that was busy for this time shuts the gate.
constexpr std::chrono::milliseconds patience_of_writers = 1s;
/// How long the gate stays shut unless the WRITE tries again: longer than the pause between two
/// attempts.
constexpr std::chrono::milliseconds gate_lease = 2s;
/// The maximum size of a key, in bytes.
constexpr std::size_t longest_key = 1'024;

/// The gate's key, on the same node of a cluster as the lock's key. Empty if the result would be
/// too long.
std::string gate_of(std::string_view key) {
  const bool tagged = key.find('{') != std::string_view::npos;
  std::string gate = tagged ? "latchkey_writer:" : "latchkey_writer:{";
  gate += key;
  if (!tagged) gate += '}';
  return gate.size() <= longest_key ? gate : std::string();
}

}  // namespace

// The submitter holds under this id, or may still get it: no release was submitted.
bool QuorumBackend::live(const Operation& one) const {
  const auto known = known_.find(one.id);
  return known != known_.end() && known->second.wire == one.wire && !known->second.ending;
}

// A release waits for the servers that usually reply, because the release may not have reached them
// yet: Redis asks for the text of a script that it does not know. Nobody may drive the quorum after
// the outcome, and such a server would keep the key until the lease ends.
bool QuorumBackend::awaits_usual_servers(const Operation& one) const {
  if (!is_release(one.sub_requests.front().verb) || clock_.now() >= one.deadline) return false;
  return std::ranges::any_of(one.sub_requests, [&](const SubRequest& each) {
    return each.sent_out && !each.answered && missed_releases_[each.server] < most_missed;
  });
}

void QuorumBackend::decide(Operation& one, Later& later) {
  auto outcome = one.ballot.decision(names_);
  if (!outcome) return;
  if (awaits_usual_servers(one)) {
    const auto at_most = patience(Verb::acquire, one.lease);
    one.deadline = std::min(one.deadline, latchkey::later(clock_.now(), at_most));
    return;
  }
  one.decided = true;
  for (const SubRequest& sub_request : one.sub_requests) {
    if (!sub_request.sent_out || sub_request.answered) continue;
    ++slow_[sub_request.server];
    if (is_release(sub_request.verb)) ++missed_releases_[sub_request.server];
  }
  one.outcome = std::move(*outcome);
  settle(one, one.outcome, later);
  if (one.giving_back == 0) return complete(one, later);
  one.deadline = latchkey::later(clock_.now(), patience(Verb::acquire, one.lease));
}

// A server that replies in time is waited for again.
void QuorumBackend::note_reply_to_release(const SubRequest& sub_request) {
  const Operation& one = *sub_request.of;
  const auto in_time = latchkey::later(sub_request.sent, patience(Verb::acquire, one.lease));
  if (!one.decided || clock_.now() <= in_time) missed_releases_[sub_request.server] = 0;
}

void QuorumBackend::complete(Operation& one, Later& later) {
  if (one.asked == nullptr) return;
  later.answers.push_back({std::exchange(one.asked, nullptr), one.sink, std::move(one.outcome)});
}

void QuorumBackend::settle(Operation& one, const Outcome& outcome, Later& later) {
  const auto known = known_.find(one.id);
  const bool ours = known != known_.end() && known->second.wire == one.wire;
  const bool granted = outcome.kind == Kind::granted;
  switch (one.sub_requests.front().verb) {
    case Verb::acquire:
      if (ours && (granted || known->second.held)) {
        known->second.held = true;
        return open_gate(one.id, later);
      }
      if (outcome.kind == Kind::busy && one.sub_requests.front().type == LockType::WRITE) {
        shut_gate(one, later);
      }
      // No majority, or released meanwhile: releases the grants, so that they do not block other
      // owners.
      if (ours) known_.erase(known);
      for (std::size_t server = 0; server < servers_.size(); ++server) {
        if (!one.ballot.may_hold(server)) continue;
        Operation& release = give_back(one, server, later);
        if (!one.ballot.granted(server)) continue;
        // This server replies, so the outcome waits for its release: the submitter may not drive
        // again for a long time, and a server that nobody drives may do nothing.
        release.released_for = &one;
        ++one.giving_back;
      }
      return;
    case Verb::release:
    case Verb::leave:
      if (ours && (granted || outcome.kind == Kind::gone)) known_.erase(known);
      return;
    default:
      if (ours && granted) known->second.lease = one.lease;
      if (!ours || outcome.kind != Kind::gone) return;
      // A submitter that receives `gone` sends no release, but a minority still has the hold.
      known_.erase(known);
      for (std::size_t server = 0; server < servers_.size(); ++server) {
        give_back(one, server, later);
      }
      return;
  }
}

// The action that one server's reply requires at that server, whatever the others reply.
void QuorumBackend::follow_up(const SubRequest& sub_request, const Outcome& outcome, Later& later) {
  const Operation& one = *sub_request.of;
  if (one.is_gate) return;  // the gate's lease is short
  switch (sub_request.verb) {
    case Verb::acquire:
      if (outcome.kind == Kind::granted && !live(one)) give_back(one, sub_request.server, later);
      return;
    case Verb::renew:
      if (outcome.kind == Kind::gone && live(one)) repair(one, sub_request.server, later);
      return;
    case Verb::release:
    case Verb::leave: {
      if (outcome.kind != Kind::unknown) return note_reply_to_release(sub_request);
      const Clock::time_point now = clock_.now();
      const Clock::time_point until = latchkey::later(sub_request.sent, one.lease);
      if (now >= until) return;
      compensations_.push_back({sub_request.server, sub_request.verb, one.id, one.wire, one.key,
                                sub_request.type, one.lease, until, now + repeat_pause});
      return;
    }
    default: return;
  }
}

Operation& QuorumBackend::give_back(const Operation& of, std::size_t server, Later& later) {
  const LockType type = of.downgraded ? LockType::WRITE : of.sub_requests[server].type;
  const Verb verb = of.downgraded ? Verb::leave : Verb::release;
  Operation& made = operation(verb, of.id, of.wire, of.key, type, of.lease);
  send_to(made, server);
  later.start.push_back(&made);
  return made;
}

// Acquires the hold again at a server that has lost it. It counts from the next renewal on.
void QuorumBackend::repair(const Operation& of, std::size_t server, Later& later) {
  const LockType type = of.sub_requests[server].type;
  Operation& made = operation(Verb::acquire, of.id, of.wire, of.key, type, of.lease);
  send_to(made, server);
  later.start.push_back(&made);
}

void QuorumBackend::compensate(Later& later) {
  const Clock::time_point now = clock_.now();
  for (const Compensation& compensation : compensations_) {
    if (compensation.at > now || compensation.until <= now) continue;
    Operation& made = operation(
        compensation.verb, compensation.id, compensation.wire, compensation.key, compensation.type,
        std::chrono::duration_cast<std::chrono::milliseconds>(compensation.until - now));
    send_to(made, compensation.server);
    later.start.push_back(&made);
  }
  std::erase_if(compensations_, [now](const Compensation& compensation) {
    return compensation.at <= now || compensation.until <= now;
  });
}

// READs share the gate only between two commands of a server, so a WRITE that wants to shut the
// gate soon can. If a server forbids the gate's key there is no gate at that server, and READs
// always enter.
void QuorumBackend::look_at_gate(Operation& made) {
  made.gate = gate_of(made.key);
  if (made.gate.empty()) return;
  made.shut.resize(servers_.size());
  made.at_gate.resize(2 * servers_.size());
  const HoldId id{space_, ++last_id_};
  for (std::size_t index = 0; index < made.at_gate.size(); ++index) {
    const bool enters = index % 2 == 0;
    SubRequest& sub_request = made.at_gate[index];
    sub_request.part = enters ? SubRequest::Part::enters_gate : SubRequest::Part::leaves_gate;
    sub_request.verb = enters ? Verb::acquire : Verb::release;
    sub_request.type = LockType::READ;
    sub_request.key = made.gate;
    sub_request.id = id;
    sub_request.lease = gate_lease;
    sub_request.sent = clock_.now();
    sub_request.of = &made;
    sub_request.server = index / 2;
    send_to(sub_request);
  }
}

void QuorumBackend::shut_gate(const Operation& busy, Later& later) {
  const Clock::time_point now = clock_.now();
  Writer& writer = writers_[busy.id];
  if (writer.since == Clock::time_point{}) {
    writer.since = now;
    writer.key = gate_of(busy.key);
  }
  writer.seen = now;
  if (writer.key.empty() || now - writer.since < patience_of_writers) return;
  if (writer.gate.number == 0) writer.gate = {space_, ++last_id_};
  change_gate(Verb::acquire, writer, later);
}

void QuorumBackend::open_gate(const HoldId& id, Later& later) {
  const auto found = writers_.find(id);
  if (found == writers_.end()) return;
  if (found->second.gate.number != 0) change_gate(Verb::release, found->second, later);
  writers_.erase(found);
}

void QuorumBackend::change_gate(Verb verb, const Writer& writer, Later& later) {
  Operation& made =
      operation(verb, writer.gate, writer.gate, writer.key, LockType::WRITE, gate_lease);
  made.is_gate = true;
  for (std::size_t server = 0; server < servers_.size(); ++server) send_to(made, server);
  later.start.push_back(&made);
}

// A WRITE that gives up its wait does not report it: its lease opens the gate.
void QuorumBackend::forget_writers() {
  const Clock::time_point now = clock_.now();
  std::erase_if(writers_, [&](const auto& each) { return now - each.second.seen > gate_lease; });
}

}  // namespace latchkey::inline v1::detail::quorum
