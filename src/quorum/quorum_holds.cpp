// Several servers as one backend: what an answer means for a hold, and how a WRITE gets past READs
// that overlap: by a gate.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "quorum/quorum_backend.hpp"

namespace latchkey::detail::quorum {

using Kind = Outcome::Kind;

namespace {

/// How long after one release of a server that did not answer the next is sent.
constexpr std::chrono::seconds repeat_pause{1};

using namespace std::chrono_literals;

/// A WRITE that was busy for so long shuts the gate.
constexpr std::chrono::milliseconds patience_of_writers = 1s;
/// How long it stays shut without being asked for again: longer than the pause between two
/// attempts.
constexpr std::chrono::milliseconds gate_lease = 2s;
/// A key has at most 1 KiB.
constexpr std::size_t longest_key = 1'024;

/// On the same node of a cluster as the key. Empty: the key is too long for it.
std::string gate_of(std::string_view key) {
  const bool tagged = key.find('{') != std::string_view::npos;
  std::string gate = tagged ? "latchkey_writer:" : "latchkey_writer:{";
  gate += key;
  if (!tagged) gate += '}';
  return gate.size() <= longest_key ? gate : std::string();
}

}  // namespace

// The submitter holds under this id, or may yet: nothing has ended it.
bool QuorumBackend::live(const Operation& one) const {
  const auto known = known_.find(one.id);
  return known != known_.end() && known->second.wire == one.wire && !known->second.ending;
}

void QuorumBackend::decide(Operation& one, Later& later) {
  auto outcome = one.ballot.decision(names_);
  if (!outcome) return;
  one.decided = true;
  for (const SubRequest& sub_request : one.sub_requests) {
    if (sub_request.sent_out && !sub_request.answered) ++slow_[sub_request.server];
  }
  one.outcome = std::move(*outcome);
  settle(one, one.outcome, later);
  if (one.giving_back == 0) return tell(one, later);
  const auto now = clock_.now();
  one.deadline = latchkey::later(now, patience(Verb::acquire, one.lease));
}

void QuorumBackend::tell(Operation& one, Later& later) {
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
      // Not by a majority, or given up meanwhile: nobody shall find it in the way.
      if (ours) known_.erase(known);
      for (std::size_t server = 0; server < servers_.size(); ++server) {
        if (!one.ballot.may_hold(server)) continue;
        Operation& release = give_back(one, server, later);
        if (!one.ballot.granted(server)) continue;
        // It answers, so it is waited for: who asked may not come by again for long, and a server
        // that nobody drives may do nothing.
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
      // Whoever is told that it is gone releases nothing, and a minority has it yet.
      known_.erase(known);
      for (std::size_t server = 0; server < servers_.size(); ++server) {
        give_back(one, server, later);
      }
      return;
  }
}

// What one server's answer calls for at that server, whatever the others say.
void QuorumBackend::follow_up(const SubRequest& sub_request, const Outcome& outcome, Later& later) {
  const Operation& one = *sub_request.of;
  if (one.is_gate) return;  // its lease is short
  switch (sub_request.verb) {
    case Verb::acquire:
      if (outcome.kind == Kind::granted && !live(one)) give_back(one, sub_request.server, later);
      return;
    case Verb::renew:
      if (outcome.kind == Kind::gone && live(one)) repair(one, sub_request.server, later);
      return;
    case Verb::release:
    case Verb::leave: {
      if (outcome.kind != Kind::unknown) return;
      const Clock::time_point now = clock_.now();
      const Clock::time_point until = latchkey::later(sub_request.sent, one.lease);
      if (now >= until) return;
      owed_.push_back({sub_request.server, sub_request.verb, one.id, one.wire, one.key,
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

// This server had lost the hold, and is asked for it again. It counts from the next renewal on.
void QuorumBackend::repair(const Operation& of, std::size_t server, Later& later) {
  const LockType type = of.sub_requests[server].type;
  Operation& made = operation(Verb::acquire, of.id, of.wire, of.key, type, of.lease);
  send_to(made, server);
  later.start.push_back(&made);
}

void QuorumBackend::compensate(Later& later) {
  const Clock::time_point now = clock_.now();
  for (const Compensation& compensations : owed_) {
    if (compensations.at > now || compensations.until <= now) continue;
    Operation& made =
        operation(compensations.verb, compensations.id, compensations.wire, compensations.key,
                  compensations.type,
                  std::chrono::duration_cast<std::chrono::milliseconds>(compensations.until - now));
    send_to(made, compensations.server);
    later.start.push_back(&made);
  }
  std::erase_if(owed_, [now](const Compensation& compensations) {
    return compensations.at <= now || compensations.until <= now;
  });
}

// Readers share the gate for no longer than a server takes from one command to the next, so whoever
// wants it for itself soon has it. A server that forbids its key has no gate: nobody is kept out.
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

// Who gives up its wait says nothing: the gate opens by its lease.
void QuorumBackend::forget_writers() {
  const Clock::time_point now = clock_.now();
  std::erase_if(writers_, [&](const auto& each) { return now - each.second.seen > gate_lease; });
}

}  // namespace latchkey::detail::quorum
