// The request for several keys of a caller.
#include <algorithm>
#include <utility>

#include "testing/simulator/callers/multi_key_caller.hpp"

namespace latchkey::sim {
namespace {

/// What the outcome of a batch is for one of its keys.
Outcome outcome_for(LockType type, const Outcome& outcome) {
  Outcome its;
  its.kind = outcome.kind;
  if (type == LockType::FENCED) its.token = outcome.token;
  return its;
}

}  // namespace

void MultiKeyCaller::start_batch() {
  batch_open_ = true;
  batch_ = std::make_unique<Batch>();
  if (claim_all() && !batch_->members.empty()) return submit_batch();
  Outcome busy;
  busy.kind = Outcome::Kind::busy;
  finish_batch(busy);
}

/// Takes a place in every local queue, as BatchAcquire does. False if one of them is not free.
bool MultiKeyCaller::claim_all() {
  bool free = true;
  for (Key& key : keys_) {
    key.claim = nullptr;
    if (key.hold != nullptr) continue;
    key.call.reset();
    if (!free) continue;
    start_call(key, Operation::acquire);
    key.under_way = false;
    if (key.call->answer == Answer::pending) key.claim = key.call->hold;
    free = key.claim != nullptr || key.call->answer == Answer::granted;
    if (key.claim == nullptr) continue;
    batch_->members.push_back({context_.world.keys[key.key], key.type, key.claim->id});
    batch_->claims.push_back(key.claim);
  }
  return free;
}

void MultiKeyCaller::submit_batch() {
  World& world = context_.world;
  const Member& first = batch_->members.front();
  Request& request = batch_->request;
  request.verb = Verb::acquire_all;
  request.key = first.key;
  request.members = batch_->members;
  request.lease = lease_.length(world.scenario.settings.watchdog);
  request.sent = context_.clock.now();
  context_.requests.submitted(context_.client, request, false);
  context_.note("sends", "acquire_all", first.id.number);
  if (!world.scenario.immediate) return context_.network.submit(context_.client, request);
  const Outcome outcome = context_.network.apply_at_once(context_.client, request);
  context_.requests.applied(context_.client, request, outcome, true);
  context_.requests.answered(context_.client, request, outcome);
  answered(request, outcome);
}

bool MultiKeyCaller::answered(const Request& request, const Outcome& outcome) {
  if (!batch_open_ || &batch_->request != &request) return answered_late(request, outcome);
  finish_batch(outcome);
  rest(reaction_time);
  return true;
}

void MultiKeyCaller::finish_batch(const Outcome& outcome) {
  for (Key& key : keys_) {
    RemoteHold* const claim = std::exchange(key.claim, nullptr);
    if (claim == nullptr) continue;
    Outcome its = outcome_for(key.type, outcome);
    context_.handle(
        key.key,
        [&](Coordinator& one, EventContext& context) {
          one.completed(claim->acquire_request, its, context);
        },
        &*key.call);
    if (key.call->answer == Answer::pending) {
      context_.world.fail("one attempt was not the last");
    }
  }
  batch_open_ = false;
}

void MultiKeyCaller::abandon_batch() {
  for (Key& key : keys_) {
    if (std::exchange(key.claim, nullptr) == nullptr) continue;
    context_.handle(
        key.key, [&](Coordinator& its, EventContext& context) { its.end_wait(*key.call, context); },
        &*key.call);
  }
  abandoned_.push_back(std::move(batch_));
  batch_open_ = false;
}

// The coordinators release what the batch was granted after it was abandoned.
bool MultiKeyCaller::answered_late(const Request& request, const Outcome& outcome) {
  const auto place = std::ranges::find_if(
      abandoned_, [&](const auto& each) { return &each->request == &request; });
  if (place == abandoned_.end()) return false;
  const std::unique_ptr<Batch> batch = std::move(*place);
  abandoned_.erase(place);
  for (RemoteHold* const claim : batch->claims) {
    Outcome its;
    its.kind = outcome.kind;
    context_.process->handle(*claim->home, [&](Coordinator& one, EventContext& context) {
      one.completed(claim->acquire_request, its, context);
    });
  }
  return true;
}

}  // namespace latchkey::sim
