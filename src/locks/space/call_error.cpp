// Making exceptions of answers.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/call_error.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/listener.hpp>

#include "locks/space/direct_request.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// The call would have been granted without .reentry(Reentry::refuse).
bool only_refused(const Call& call) noexcept {
  const bool enters =
      call.type == call.held_as || (call.type == LockType::READ && call.held_as == LockType::WRITE);
  return call.reentry == Reentry::refuse && enters;
}

/// The holder, as one inspect describes it. Without an answer the owner's id must do: the caller
/// waits for its LockTimeout. A call that no thread waits for does not inspect, which would block
/// its executor.
std::string holder_of(LockSpace& space, const Call& call, std::string_view key) {
  std::string holder(call.holder.view());
  const bool announces = space.options().announce && space.capabilities().administration;
  if (!announces || call.completion != nullptr || holder.empty() || call.holder_is_local)
    return holder;
  auto request = std::make_unique<DirectRequest>();
  request->verb = Verb::inspect;
  request->key = request->own_key = key;
  request->info = &request->own_info;
  // The end of the wait bounds the inspect, too.
  if (!space.direct_requests().run(request, later(call.until, call.grace))) return holder;
  if (request->outcome.kind != Outcome::Kind::granted) return holder;
  for (const HolderInfo& each : request->own_info.holders) {
    if (each.id == holder && !each.announced.empty()) return each.announced + ", owner " + holder;
  }
  return holder;
}

}  // namespace

std::string name_holder(LockSpace& space, const Call& busy, std::string_view key) {
  const Clock::time_point now = space.clock().now();
  std::string holder = holder_of(space, busy, key);
  if (!busy.leaves_report()) return holder;
  Event event;
  event.kind = Event::Kind::timeout;
  event.type = busy.type;
  event.key = space.without_prefix(key);
  event.owner = busy.owner.number();
  event.origin = busy.origin;
  event.ticket = busy.ticket;
  event.waited = now - busy.asked;
  if (busy.waits) event.contended = now - busy.waiting_since;
  event.holder = holder;
  space.reporter().post(std::move(event));
  return holder;
}

void throw_answer(LockSpace& space, const Call& call, std::string_view key,
                  const ErrorContext* context) {
  using std::chrono::milliseconds;
  LockSite site = space.site_of(key, call.type);
  site.body_ran = context != nullptr;
  site.has_event = call.failure_reported;
  (context != nullptr ? *context : ErrorContext{call.origin, call.lease}).describe(site);
  const auto waited = std::chrono::duration_cast<milliseconds>(space.clock().now() - call.asked);
  switch (call.answer) {
    case Answer::busy: throw LockTimeout(std::move(site), waited, name_holder(space, call, key));
    case Answer::lost:
      throw LockLost(std::move(site), std::chrono::floor<milliseconds>(call.held),
                     call.held_too_long);
    case Answer::would_deadlock:
      throw WouldDeadlock(std::move(site), call.held_as, std::string(call.holder),
                          only_refused(call));
    case Answer::not_owner: throw NotOwner(std::move(site));
    case Answer::cancelled:
      throw Cancelled(std::move(site), call.completion == nullptr
                                           ? Cancelled::By::stop_token
                                           : Cancelled::By::cancellation_slot);
    case Answer::closed: throw Closed(std::move(site));
    case Answer::refused: throw BackendRefused(std::move(site), std::string(call.reason));
    case Answer::pending:
    case Answer::granted:
    case Answer::too_long:
    case Answer::unavailable: break;
  }
  std::string reason(call.reason.view());
  if (reason.empty()) reason = "the backend gave no reason";
  if (call.kind == Call::Kind::release) throw ReleaseUnconfirmed(std::move(site), reason);
  if (call.kind == Call::Kind::acquire)
    reason += "; waited " + std::to_string(waited.count()) + " ms";
  throw BackendUnavailable(std::move(site), reason);
}

}  // namespace latchkey::inline v1::detail
