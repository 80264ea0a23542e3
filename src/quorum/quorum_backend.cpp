// A quorum as one backend: requests in, sub-requests out, replies back.
// SPDX-License-Identifier: BSL-1.0
#include "quorum/quorum_backend.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "backend/verbs.hpp"

namespace latchkey::inline v1::detail::quorum {
namespace {

using std::chrono::milliseconds;

/// The most sub-requests that one server is sent in one submit.
constexpr std::size_t most_together = 24;

bool is_offered(Verb verb) noexcept {
  switch (verb) {
    case Verb::acquire:
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::expire:
    case Verb::release:
    case Verb::leave: return true;
    default: return false;
  }
}

/// Whether the request was refused when its operation was made. Not to be called after `begin`.
bool is_refused(const Operation& made) noexcept {
  return made.answer.front().outcome.kind == Outcome::Kind::refused;
}

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
      repeated_(servers_.size()),
      probe_at_(servers_.size()),
      repeats_(servers_.size()),
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

// The sink must not be called here: what is decided already is delivered by the next drive.
void QuorumBackend::submit(std::span<Request* const> requests, Sink& sink) {
  Later later;
  {
    const Lock lock(mutex_);
    std::list<Operation> prepared = make_operations(requests, sink);
    repeat_releases(later);
    gates_.forget_writers(clock_.now());
    while (!prepared.empty()) begin(prepared, later);
  }
  send(later);
  if (later.answers.empty()) return;
  const Lock lock(mutex_);
  answers_.splice(answers_.end(), later.answers);
}

// Called with the mutex held, like all functions below up to send.
std::list<Operation> QuorumBackend::make_operations(std::span<Request* const> requests,
                                                    Sink& sink) {
  if (std::ranges::find(sinks_, &sink) == sinks_.end()) sinks_.push_back(&sink);
  std::list<Operation> prepared;
  for (Request* const request : requests) {
    Operation& made = prepared.emplace_back(request->verb, request->key, servers_.size());
    made.answer.push_back({request, &sink});
    if (!is_offered(request->verb)) {
      Outcome& outcome = made.answer.front().outcome;
      outcome.kind = Outcome::Kind::refused;
      outcome.reason = "a quorum offers no " + std::string(to_string(request->verb)) +
                       ": ask its servers one by one";
    } else if (request->key.starts_with(gate_prefix)) {
      Outcome& outcome = made.answer.front().outcome;
      outcome.kind = Outcome::Kind::refused;
      outcome.reason = "the name '" + std::string(request->key) + "' begins with '" +
                       std::string(gate_prefix) + "', which is reserved: choose another";
    } else if (request->verb == Verb::acquire) {
      made.copies = std::make_shared<Copies>(servers_.size());
      if (request->type == LockType::READ) Gates::pass(made, {space_, ++last_id_});
    }
  }
  try {
    for (const Operation& made : prepared) {
      const Request& request = *made.answer.front().request;
      if (request.verb == Verb::acquire && !is_refused(made)) known_.try_emplace(request.id);
    }
  } catch (const std::bad_alloc&) {
    std::erase_if(known_, [](const auto& each) { return each.second.wire.number == 0; });
    throw;
  }
  return prepared;
}

void QuorumBackend::begin(std::list<Operation>& prepared, Later& later) noexcept {
  Operation& one = prepared.front();
  const Request& request = *one.answer.front().request;
  const auto found = known_.find(request.id);
  const bool is_known =
      found != known_.end() && (request.verb == Verb::acquire || found->second.wire.number != 0);
  if (is_refused(one) || !is_known) {
    if (!is_refused(one)) one.answer.front().outcome.kind = Outcome::Kind::gone;
    answers_.splice(answers_.end(), one.answer);
    prepared.pop_front();
    return;
  }
  one.place = prepared.begin();
  operations_.splice(operations_.end(), prepared, one.place);
  Known& known = found->second;
  one.type = request.type;
  one.lease = request.lease;
  if (request.verb == Verb::acquire) {
    // The last attempt may have been released: a new id keeps that release from ending this one.
    if (!known.held) {
      known.wire = {space_, ++last_id_};
      known.copies = one.copies;
    }
    known.lease = request.lease;
  } else {
    if (request.verb == Verb::downgrade) known.downgraded = true;
    one.downgraded = known.downgraded;
    if (one.lease.count() == 0) one.lease = known.lease;
  }
  if (is_release(request.verb)) {
    known.ending = true;
    start_at_gate(gates_.open(request.id, servers_.size()), later);
    if (one.downgraded && request.verb == Verb::release) {
      one.verb = Verb::leave;
      one.type = LockType::WRITE;
    }
  }
  one.id = request.id;
  one.wire = known.wire;
  one.copies = known.copies;
  one.decided = false;
  one.allowed = patience(one.verb, one.lease);
  one.deadline = latchkey::later(request.sent != Clock::time_point{} ? request.sent : clock_.now(),
                                 one.allowed);
  fill_in(one);
  ask_servers(one, later);
}

void QuorumBackend::fill_in(Operation& made) noexcept {
  const Clock::time_point end_of_lease = latchkey::later(clock_.now(), made.lease);
  for (std::vector<SubRequest>* const all : {&made.sub_requests, &made.undo}) {
    for (SubRequest& sub_request : *all) {
      if (all == &made.undo) sub_request.part = SubRequest::Part::undo;
      sub_request.of = &made;
      sub_request.server = static_cast<std::size_t>(&sub_request - all->data());
      sub_request.verb = made.verb;
      sub_request.type = made.type;
      sub_request.key = made.key;
      sub_request.id = made.wire;
      sub_request.lease = made.verb == Verb::verify ? milliseconds(0) : made.lease;
      sub_request.repeat_until = end_of_lease;
    }
  }
}

void QuorumBackend::start(SubRequest& sub_request, Later& later) noexcept {
  Operation& one = *sub_request.of;
  sub_request.sent = clock_.now();
  sub_request.stage = SubRequest::Stage::under_way;
  Copy* const copy = copy_of(sub_request);
  if (copy != nullptr && sub_request.verb == Verb::acquire) ++copy->acquiring;
  ++one.open;
  ++awaited_[sub_request.server];
  later.unsent.push_back(sub_request);
}

void QuorumBackend::completed(Request& request, Outcome&& outcome) noexcept {
  Later later;
  {
    const Lock lock(mutex_);
    on_reply(static_cast<SubRequest&>(request), std::move(outcome), later);
  }
  carry_out(later);
}

void QuorumBackend::on_reply(SubRequest& sub_request, Outcome&& outcome, Later& later) noexcept {
  using Part = SubRequest::Part;
  Operation& one = *sub_request.of;
  const std::size_t server = sub_request.server;
  const bool is_main = sub_request.part == Part::main;
  const bool first = is_main && !std::exchange(sub_request.replied, true);
  sub_request.stage = SubRequest::Stage::idle;
  --one.open;
  --awaited_[server];
  const bool answers =
      outcome.kind != Outcome::Kind::unknown && outcome.kind != Outcome::Kind::refused;
  if (outcome.kind != Outcome::Kind::unknown) slow_[server] = 0;
  note_reply(sub_request, outcome);
  if (sub_request.part == Part::enters_gate) {
    one.sub_requests[server].gate_shut = outcome.kind == Outcome::Kind::busy;
  }
  // A READ that was granted although a WRITE has shut the gate comes too late: it is released and
  // counts as busy.
  if (first && sub_request.gate_shut && outcome.kind == Outcome::Kind::granted && live(one)) {
    give_back(sub_request, later);
    outcome = Outcome{};
    outcome.kind = Outcome::Kind::busy;
  } else if (is_main || sub_request.part == Part::undo) {
    follow_up(sub_request, outcome, later);
  }
  if (first && !one.decided) {
    one.ballot.vote(server, std::move(outcome));
    decide(one, later);
  }
  end_if_done(one, later);
  if (answers) repeat_releases(server, 2, later);
}

// A release is sent again by the next drive. Any other request counts as one without a reply.
void QuorumBackend::on_out_of_memory(SubRequest& sub_request, Later& later) noexcept {
  const bool of_gate = sub_request.of->is_gate || sub_request.part == SubRequest::Part::leaves_gate;
  if (is_release(sub_request.verb) && !of_gate) {
    sub_request.stage = SubRequest::Stage::to_repeat;
    --awaited_[sub_request.server];
    repeats_[sub_request.server].add_unsent(sub_request, clock_.now());
    return;
  }
  Outcome outcome;
  outcome.reason = "out of memory";  // short enough to need none
  outcome.never_ran = true;
  on_reply(sub_request, std::move(outcome), later);
}

void QuorumBackend::end_if_done(Operation& one, Later& later) noexcept {
  if (one.open != 0 || one.awaited()) return;
  if (is_release(one.verb)) {
    // Every server has confirmed it, or the lease is over.
    const auto known = known_.find(one.id);
    if (known != known_.end() && known->second.wire == one.wire) known_.erase(known);
  }
  later.ended.splice(later.ended.end(), delivered_, one.place);
}

// Called without the mutex, like all functions below. A sub-request is not read after it is
// submitted, because its operation may end.
void QuorumBackend::send(Later& later) noexcept {
  std::array<Request*, most_together> together{};
  while (!later.unsent.empty()) {
    const std::size_t server = later.unsent.front().server;
    const std::size_t count = later.unsent.take_for_one_server(together);
    try {
      servers_[server]->submit({together.data(), count}, from_[server]);
    } catch (const std::bad_alloc&) {
      const Lock lock(mutex_);
      for (std::size_t index = 0; index < count; ++index) {
        on_out_of_memory(static_cast<SubRequest&>(*together[index]), later);
      }
    }
  }
}

void QuorumBackend::carry_out(Later& later) noexcept {
  send(later);
  later.ended.clear();  // the thread may sleep before `later` is destroyed
  for (Answer& answer : later.answers) {
    ++completions_;
    answer.sink->completed(*answer.request, std::move(answer.outcome));
  }
}

}  // namespace latchkey::inline v1::detail::quorum
