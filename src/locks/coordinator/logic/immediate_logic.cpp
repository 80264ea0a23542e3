// The decisions about a key that one call of this process uses.
#include "locks/coordinator/logic/immediate_logic.hpp"

#include <new>

#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/release_logic.hpp"

namespace latchkey::detail {

bool ImmediateLogic::acquire(Call& call) {
  if (backend() == nullptr || call.bundled || !state_.idle()) return false;
  AcquireLogic acquiring(*this);
  try {
    acquiring.make_claim(call);
  } catch (const std::bad_alloc&) {
    return false;
  }
  call.ticket = shard().ticket();
  RemoteHold& claim = *call.hold;
  acquiring.prepare_acquire(claim);
  Outcome outcome;
  const bool answered = backend()->answer(claim.acquire_request, outcome);
  const Clock::time_point deadline = end_of_lease(claim.acquire_request.sent, claim.lease);
  if (answered && outcome.kind == Outcome::Kind::granted && now() < deadline) {
    acquiring.hold(claim, outcome.token, deadline);
    answer(call, Answer::granted);
  } else {
    acquiring.enqueue_started(call, answered ? &outcome : nullptr);
  }
  return true;
}

bool ImmediateLogic::is_alone(const RemoteHold& hold) const noexcept {
  return state_.waiters.empty() && state_.subscription.ended() &&
         state_.holds.contains_only(hold) && hold.is_settled();
}

bool ImmediateLogic::release(RemoteHold& hold, Call& call) {
  if (backend() == nullptr || !is_alone(hold) || hold.is_lost(now())) return false;
  prepare(hold.release_request, Verb::release, hold);
  Outcome outcome;
  if (!backend()->answer(hold.release_request, outcome)) return false;
  if (outcome.kind == Outcome::Kind::granted) {
    if (reports(Event::Kind::released)) report(Event::Kind::released, hold);
    answer(call, Answer::granted);
    state_.holds.erase_held(hold);
  } else {
    state_.holds.set_releasing(hold);
    hold.release_waiter = &call;
    hold.check_at = Clock::never();
    ReleaseLogic(*this).on_release_reply(hold, outcome);
  }
  return true;
}

}  // namespace latchkey::detail
