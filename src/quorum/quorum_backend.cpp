// A quorum as one backend: requests in, sub-requests out, replies back.
// SPDX-License-Identifier: BSL-1.0
#include "quorum/quorum_backend.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "backend/verbs.hpp"

namespace latchkey::inline v1::detail::quorum {
namespace {

using std::chrono::milliseconds;

/// How long the waiting thread drives one server before it serves the others.
constexpr milliseconds slice{1};
/// The same if no undecided operation waits for a reply.
constexpr milliseconds idle_slice{5};

}  // namespace

constinit thread_local unsigned QuorumBackend::completions_ = 0;

milliseconds QuorumBackend::patience(Verb verb, milliseconds lease) noexcept {
  const milliseconds most = verb == Verb::acquire ? milliseconds(50) : milliseconds(1'000);
  if (verb == Verb::expire) return most;  // its lease is unrelated to the lease in force
  return std::clamp(lease / 10, milliseconds(1), most);
}

QuorumBackend::QuorumBackend(std::vector<std::unique_ptr<Backend>> servers, Clock& clock)
    : servers_(std::move(servers)),
      clock_(clock),
      space_(HoldId::new_space()),
      slow_(servers_.size()),
      missed_releases_(servers_.size()),
      awaited_(servers_.size()) {
  for (const auto& server : servers_) {
    from_.emplace_back(*this, names_.size());
    names_.push_back(server->describe());
  }
  register_fork_participant(ForkLevel::backend, *this);
}

QuorumBackend::~QuorumBackend() {
  unregister_fork_participant(*this);
  servers_.clear();  // no sub-request is under way after this
}

void QuorumBackend::submit(std::span<Request* const> requests, Sink& sink) {
  Later later;
  {
    const Lock lock(mutex_);
    if (std::ranges::find(sinks_, &sink) == sinks_.end()) sinks_.push_back(&sink);
    if (!compensations_.empty()) compensate(later);
    if (!writers_.empty()) forget_writers();
    for (Request* const request : requests) begin(*request, sink, later);
  }
  carry_out(later);
}

// Called with the mutex held, like all functions below up to carry_out.
void QuorumBackend::begin(Request& request, Sink& sink, Later& later) {
  milliseconds lease = request.lease;
  Verb verb = request.verb;
  LockType type = request.type;
  bool downgraded = false;
  HoldId wire;
  switch (verb) {
    case Verb::acquire: {
      Known& known = known_[request.id];
      // The last attempt may have been released: a new id keeps that release from ending this one.
      if (!known.held) known.wire = {space_, ++last_id_};
      known.lease = lease;
      wire = known.wire;
      break;
    }
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::expire:
    case Verb::release:
    case Verb::leave: {
      const auto known = known_.find(request.id);
      if (known == known_.end()) {
        Outcome gone;
        gone.kind = Outcome::Kind::gone;
        answers_.push_back({&request, &sink, std::move(gone)});
        return;
      }
      wire = known->second.wire;
      if (is_release(request.verb)) {
        known->second.ending = true;
        open_gate(request.id, later);
      }
      if (verb == Verb::downgrade) known->second.downgraded = true;
      downgraded = known->second.downgraded;
      if (verb == Verb::release && downgraded) {
        verb = Verb::leave;
        type = LockType::WRITE;
      }
      if (lease.count() == 0) lease = known->second.lease;
      break;
    }
    default: {
      Outcome refused;
      refused.kind = Outcome::Kind::refused;
      refused.reason = "a quorum offers no " + std::string(to_string(request.verb)) +
                       ": ask its servers one by one";
      answers_.push_back({&request, &sink, std::move(refused)});
      return;
    }
  }
  Operation& made = operation(verb, request.id, wire, request.key, type, lease);
  made.downgraded = downgraded;
  made.asked = &request;
  made.sink = &sink;
  made.decided = false;
  const Clock::time_point sent = request.sent != Clock::time_point{} ? request.sent : clock_.now();
  const milliseconds allowed = patience(verb, lease);
  made.deadline = latchkey::later(sent, allowed);
  made.patience = "within " + std::to_string(allowed.count()) + " ms";
  for (std::size_t server = 0; server < servers_.size(); ++server) send_to(made, server);
  if (request.verb == Verb::acquire && request.type == LockType::READ) look_at_gate(made);
  later.start.push_back(&made);
}

Operation& QuorumBackend::operation(Verb verb, const HoldId& id, const HoldId& wire,
                                    std::string_view key, LockType type, milliseconds lease) {
  Operation& made = operations_.emplace_back(verb, servers_.size());
  made.place = std::prev(operations_.end());
  made.id = id;
  made.wire = wire;
  made.key = key;
  made.lease = lease;
  made.decided = true;  // nobody waits for its outcome, unless the caller changes this
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    SubRequest& sub_request = made.sub_requests[server];
    sub_request.verb = verb;
    sub_request.type = type;
    sub_request.key = made.key;
    sub_request.id = wire;
    sub_request.lease = verb == Verb::verify ? milliseconds(0) : lease;
    sub_request.sent = clock_.now();
    sub_request.of = &made;
    sub_request.server = server;
  }
  return made;
}

void QuorumBackend::send_to(Operation& made, std::size_t server) {
  send_to(made.sub_requests[server]);
}

void QuorumBackend::send_to(SubRequest& sub_request) {
  sub_request.sent_out = true;
  ++sub_request.of->open;
  ++awaited_[sub_request.server];
}

void QuorumBackend::completed(Request& request, Outcome&& outcome) noexcept {
  auto& sub_request = static_cast<SubRequest&>(request);
  Later later;
  {
    const Lock lock(mutex_);
    Operation& one = *sub_request.of;
    sub_request.answered = true;
    // A READ that was granted although a WRITE has shut the gate comes too late: it is released and
    // counts as busy.
    const bool shut = sub_request.part == SubRequest::Part::main && !one.shut.empty() &&
                      one.shut[sub_request.server];
    if (shut && outcome.kind == Outcome::Kind::granted && live(one)) {
      give_back(one, sub_request.server, later);
      outcome = Outcome{};
      outcome.kind = Outcome::Kind::busy;
    }
    --one.open;
    --awaited_[sub_request.server];
    if (outcome.kind != Outcome::Kind::unknown) slow_[sub_request.server] = 0;
    if (sub_request.part == SubRequest::Part::main) {
      follow_up(sub_request, outcome, later);
      if (!one.decided) {
        one.ballot.vote(sub_request.server, outcome);
        decide(one, later);
      }
    } else if (sub_request.part == SubRequest::Part::enters_gate) {
      one.shut[sub_request.server] = outcome.kind == Outcome::Kind::busy;
    }
    if (Operation* const waiting = std::exchange(one.released_for, nullptr)) {
      if (--waiting->giving_back == 0) complete(*waiting, later);
      end_if_done(*waiting, later);
    }
    end_if_done(one, later);
  }
  carry_out(later);
}

void QuorumBackend::end_if_done(Operation& one, Later& later) {
  if (one.open != 0 || one.giving_back != 0) return;
  later.ended.splice(later.ended.end(), operations_, one.place);
}

void QuorumBackend::expire(Later& later) {
  const Clock::time_point now = clock_.now();
  for (Operation& one : operations_) {
    if (!one.awaited() || now < one.deadline) continue;
    if (one.decided) {
      complete(one, later);
    } else {
      one.ballot.close(one.patience);
      decide(one, later);
    }
  }
}

// Called without the mutex. A sub-request is not read after it is submitted, because its operation
// may end.
void QuorumBackend::carry_out(Later& later) noexcept {
  std::vector<std::vector<Request*>> sub_requests(later.start.empty() ? 0 : servers_.size());
  for (Operation* const one : later.start) {
    for (SubRequest& sub_request : one->sub_requests) {
      if (!sub_request.sent_out) continue;
      std::vector<Request*>& all = sub_requests[sub_request.server];
      const std::size_t gate = 2 * sub_request.server;
      if (!one->at_gate.empty()) all.push_back(&one->at_gate[gate]);
      all.push_back(&sub_request);
      if (!one->at_gate.empty()) all.push_back(&one->at_gate[gate + 1]);
    }
  }
  for (std::size_t server = 0; server < sub_requests.size(); ++server) {
    if (!sub_requests[server].empty())
      servers_[server]->submit(sub_requests[server], from_[server]);
  }
  for (Answer& answer : later.answers) {
    ++completions_;
    answer.sink->completed(*answer.request, std::move(answer.outcome));
  }
}

QuorumBackend::Round QuorumBackend::round() {
  Round made;
  std::vector<bool> waited_for(servers_.size());
  const Lock lock(mutex_);
  for (const Operation& one : operations_) {
    const Operation* const who = one.released_for != nullptr ? one.released_for : &one;
    if (!who->awaited() || (who == &one && one.decided)) continue;
    made.deadline = std::min(made.deadline, who->deadline);
    for (const SubRequest& sub_request : one.sub_requests) {
      if (sub_request.sent_out && !sub_request.answered) waited_for[sub_request.server] = true;
    }
  }
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (awaited_[server] > 0) made.servers.push_back(server);
  }
  std::ranges::sort(made.servers, {}, [&](std::size_t server) {
    return std::tuple(!waited_for[server], slow_[server], server);
  });
  made.undecided = !made.servers.empty() && waited_for[made.servers.front()];
  return made;
}

// What has arrived counts, even if this thread had no processor for a while: the servers are
// driven before anything expires.
void QuorumBackend::drive(Parker& parker, Clock::time_point until) {
  const std::uint64_t unparks = parker.unparks();
  if (parker.park_until(clock_, Clock::time_point::min())) return;
  const unsigned before = completions_;
  Later due;
  {
    const Lock lock(mutex_);
    std::swap(due.answers, answers_);
  }
  carry_out(due);
  if (completions_ == before) drive_servers(parker, until, unparks);
  Later expired;
  {
    const Lock lock(mutex_);
    expire(expired);
  }
  carry_out(expired);
}

// Polls all servers with a pending reply, blocks in one of them for a short time, and returns. A
// poll may consume an unpark that is meant for the caller, so the unparks are counted.
void QuorumBackend::drive_servers(Parker& parker, Clock::time_point until, std::uint64_t unparks) {
  const unsigned before = completions_;
  const Round due = round();
  if (due.servers.empty()) return static_cast<void>(parker.park_until(clock_, until));
  const std::span others = std::span(due.servers).subspan(due.undecided ? 1 : 0);
  for (const std::size_t server : others) servers_[server]->drive(parker, clock_.now());
  if (completions_ != before || parker.unparks() != unparks) return;
  const Clock::time_point now = clock_.now();
  if (due.undecided) {
    const auto end = std::min({until, due.deadline, later(now, slice)});
    servers_[due.servers.front()]->drive(parker, end);
  } else {
    parker.park_until(clock_, std::min(until, later(now, idle_slice)));
  }
}

}  // namespace latchkey::inline v1::detail::quorum
