// The requests, errors and events that blocking and asynchronous calls about latches share.
// SPDX-License-Identifier: BSL-1.0
#include "locks/latch/latch_calls.hpp"

#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {
namespace {

using Kind = Event::Kind;

Verb verb_of(LatchAction action) noexcept {
  switch (action) {
    case LatchAction::set: return Verb::latch_set;
    case LatchAction::count_down: return Verb::latch_down;
    case LatchAction::count: return Verb::latch_count;
    case LatchAction::destroy: break;
  }
  return Verb::latch_delete;
}

/// A clause about what may have happened if the reply is lost; empty: nothing.
std::string_view uncertainty_of(LatchAction action) noexcept {
  switch (action) {
    case LatchAction::set: return "; the latch may have got the count";
    case LatchAction::count_down: return "; it may have counted down";
    case LatchAction::count: return "";
    case LatchAction::destroy: break;
  }
  return "; the latch may have been removed";
}

void publish_latch_event(LockSpace& space, Kind kind, std::string_view key, std::uint64_t count,
                         Clock::duration waited = {}, std::string_view text = {}) noexcept {
  try {
    Event event;
    event.kind = kind;
    event.key = space.without_prefix(key);
    event.count = count;
    event.waited = waited;
    event.text = text;
    space.reporter().publish(event);
  } catch (const std::bad_alloc&) {
    space.reporter().count_unreported(1);
  }
}

[[noreturn]] void fail_latch_request(LockSpace& space, LatchAction action,
                                     const DirectRequest& answered) {
  const Outcome& outcome = answered.outcome;
  const bool may_have_run = outcome.kind == Outcome::Kind::unknown && !outcome.never_ran;
  std::string reason = outcome.reason;
  if (may_have_run) reason += uncertainty_of(action);
  publish_latch_event(space, Kind::latch_failed, answered.own_key, 0, {}, reason);
  LockSite site = site_of_latch(space, answered.own_key);
  if (outcome.kind == Outcome::Kind::refused) throw BackendRefused(std::move(site), reason);
  throw BackendUnavailable(std::move(site), reason);
}

}  // namespace

std::unique_ptr<DirectRequest> make_latch_request(std::string_view key, LatchAction action,
                                                  std::uint32_t count) {
  constexpr auto most = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
  if (count == 0 || count > most) {
    throw std::invalid_argument("the count of a latch is " + std::to_string(count) +
                                "; expected 1 to " + std::to_string(most));
  }
  auto request = make_latch_request(key, verb_of(action));
  request->tokens = count;
  return request;
}

std::unique_ptr<DirectRequest> make_latch_request(std::string_view key, Verb verb) {
  auto request = std::make_unique<DirectRequest>();
  request->verb = verb;
  request->own_key = key;
  request->key = request->own_key;
  request->latch = verb == Verb::subscribe || verb == Verb::unsubscribe;
  return request;
}

std::uint32_t latch_result(LockSpace& space, LatchAction action, const DirectRequest& answered) {
  const Outcome& outcome = answered.outcome;
  const bool done = outcome.kind == Outcome::Kind::granted;
  if (!done && outcome.kind != Outcome::Kind::gone) fail_latch_request(space, action, answered);
  const auto left = static_cast<std::uint32_t>(outcome.token);
  switch (action) {
    case LatchAction::set:
      if (done) publish_latch_event(space, Kind::latch_counted, answered.own_key, answered.tokens);
      break;
    case LatchAction::count_down:
      publish_latch_event(space, Kind::latch_counted, answered.own_key, left);
      return left;
    case LatchAction::count: return left;
    case LatchAction::destroy: break;
  }
  return done ? 1 : 0;
}

bool end_latch_wait(LockSpace& space, std::string_view key, bool open,
                    Clock::time_point began) noexcept {
  const Clock::duration waited = space.clock().now() - began;
  publish_latch_event(space, open ? Kind::latch_opened : Kind::latch_timeout, key, 0, waited);
  return open;
}

void publish_failed_latch_wait(LockSpace& space, std::string_view key, std::string_view text,
                               Clock::time_point began) noexcept {
  publish_latch_event(space, Kind::latch_failed, key, 0, space.clock().now() - began, text);
}

LockSite site_of_latch(const LockSpace& space, std::string_view key) {
  LockSite site = space.site_of(key, LockType::REENTRANT);
  site.latch = true;
  return site;
}

}  // namespace latchkey::inline v1::detail
