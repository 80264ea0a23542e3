// The functions of CountDownLatch.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/count_down_latch.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/locks.hpp>

#include "locks/full_key.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1 {
namespace {

using detail::DirectRequest;
using detail::LockSpace;
using Kind = Event::Kind;

void publish(LockSpace& space, Kind kind, std::string_view key, std::uint64_t count,
             Clock::duration waited = {}, std::string_view text = {}) noexcept {
  try {
    Event event;
    event.kind = kind;
    event.key = key;
    event.count = count;
    event.waited = waited;
    event.text = text;
    space.reporter().publish(event);
  } catch (const std::bad_alloc&) {
    space.reporter().count_unreported(1);
  }
}

/// One request about the latch. Throws BackendUnavailable and BackendRefused; `uncertain` is what
/// may have happened if the reply is lost.
Outcome send(LockSpace& space, Verb verb, const std::string& key, std::uint32_t count,
             std::string_view uncertain) {
  auto request = std::make_unique<DirectRequest>();
  request->verb = verb;
  request->key = request->own_key = key;
  request->tokens = count;
  static_cast<void>(space.direct_requests().run(request, Clock::never()));
  const Outcome outcome = request->outcome;
  if (outcome.kind == Outcome::Kind::granted || outcome.kind == Outcome::Kind::gone) {
    return outcome;
  }
  const bool may_have_run = outcome.kind == Outcome::Kind::unknown && !outcome.never_ran;
  const std::string reason =
      outcome.reason + (may_have_run ? std::string(uncertain) : std::string());
  publish(space, Kind::latch_failed, key, 0, {}, reason);
  LockSite site{.key = key, .backend = space.describe(), .latch = true};
  if (outcome.kind == Outcome::Kind::refused) throw BackendRefused(std::move(site), reason);
  throw BackendUnavailable(std::move(site), reason);
}

}  // namespace

CountDownLatch Locks::count_down_latch(std::string key) const {
  detail::LockSpace& space = space_->space();
  if (!space.capabilities().latches) {
    throw std::invalid_argument(describe() +
                                " offers no latches; expected memory: or a redis:// URI");
  }
  const detail::FullKey full(space.options().prefix, key);
  return {space_, std::string(full.view())};
}

CountDownLatch::CountDownLatch(std::shared_ptr<detail::SpaceRef> space, std::string key)
    : space_(std::move(space)), key_(std::move(key)) {}

bool CountDownLatch::try_set_count(std::uint32_t count) const {
  constexpr auto most = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
  if (count == 0 || count > most) {
    throw std::invalid_argument("the count of a latch is " + std::to_string(count) +
                                "; expected 1 to " + std::to_string(most));
  }
  LockSpace& space = space_->space();
  const Outcome outcome =
      send(space, Verb::latch_set, key_, count, "; the latch may have got the count");
  if (outcome.kind == Outcome::Kind::gone) return false;
  publish(space, Kind::latch_counted, key_, count);
  return true;
}

std::uint32_t CountDownLatch::count_down() const {
  LockSpace& space = space_->space();
  const Outcome outcome = send(space, Verb::latch_down, key_, 1, "; it may have counted down");
  publish(space, Kind::latch_counted, key_, outcome.token);
  return static_cast<std::uint32_t>(outcome.token);
}

std::uint32_t CountDownLatch::count() const {
  const Outcome outcome = send(space_->space(), Verb::latch_count, key_, 1, {});
  return static_cast<std::uint32_t>(outcome.token);
}

void CountDownLatch::wait() const { static_cast<void>(wait_for(forever)); }

bool CountDownLatch::wait_for(Wait length) const {
  LockSpace& space = space_->space();
  const Clock::time_point began = space.clock().now();
  try {
    const bool open = space.latch_waits().wait(key_, length);
    const Clock::duration waited = space.clock().now() - began;
    publish(space, open ? Kind::latch_opened : Kind::latch_timeout, key_, 0, waited);
    return open;
  } catch (const LockError& error) {
    publish(space, Kind::latch_failed, key_, 0, space.clock().now() - began, error.what());
    throw;
  }
}

bool CountDownLatch::destroy() const {
  const Outcome outcome =
      send(space_->space(), Verb::latch_delete, key_, 1, "; the latch may have been removed");
  return outcome.kind == Outcome::Kind::granted;
}

}  // namespace latchkey::inline v1
