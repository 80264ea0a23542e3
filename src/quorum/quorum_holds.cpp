// Several servers as one backend: what an answer means for a hold.
#include <algorithm>
#include <utility>

#include "quorum/quorum_backend.hpp"

namespace latchkey::detail::quorum {

using Kind = Outcome::Kind;

namespace {

/// How long after one release of a server that did not answer the next is sent.
constexpr std::chrono::seconds repeat_pause{1};

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
  for (const SubRequest& errand : one.errands) {
    if (errand.sent_out && !errand.answered) ++slow_[errand.server];
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
  switch (one.errands.front().verb) {
    case Verb::acquire:
      if (ours && (granted || known->second.held)) {
        known->second.held = true;
        return open_gate(one.id, later);
      }
      if (outcome.kind == Kind::busy && one.errands.front().type == LockType::WRITE) {
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
void QuorumBackend::follow_up(const SubRequest& errand, const Outcome& outcome, Later& later) {
  const Operation& one = *errand.of;
  if (one.is_gate) return;  // its lease is short
  switch (errand.verb) {
    case Verb::acquire:
      if (outcome.kind == Kind::granted && !live(one)) give_back(one, errand.server, later);
      return;
    case Verb::renew:
      if (outcome.kind == Kind::gone && live(one)) repair(one, errand.server, later);
      return;
    case Verb::release:
    case Verb::leave: {
      if (outcome.kind != Kind::unknown) return;
      const Clock::time_point now = clock_.now();
      const Clock::time_point until = latchkey::later(errand.sent, one.lease);
      if (now >= until) return;
      owed_.push_back({errand.server, errand.verb, one.id, one.wire, one.key, errand.type,
                       one.lease, until, now + repeat_pause});
      return;
    }
    default: return;
  }
}

Operation& QuorumBackend::give_back(const Operation& of, std::size_t server, Later& later) {
  const LockType type = of.downgraded ? LockType::WRITE : of.errands[server].type;
  const Verb verb = of.downgraded ? Verb::leave : Verb::release;
  Operation& made = operation(verb, of.id, of.wire, of.key, type, of.lease);
  send_to(made, server);
  later.start.push_back(&made);
  return made;
}

// This server had lost the hold, and is asked for it again. It counts from the next renewal on.
void QuorumBackend::repair(const Operation& of, std::size_t server, Later& later) {
  const LockType type = of.errands[server].type;
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

}  // namespace latchkey::detail::quorum
