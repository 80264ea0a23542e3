// The functions of CountDownLatch.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/count_down_latch.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "core/full_key.hpp"
#include "locks/latch/latch_calls.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1 {
namespace {

using detail::LatchAction;
using detail::LockSpace;

/// Runs one request about the latch, and returns what its reply says.
std::uint32_t run(LockSpace& space, const std::string& key, LatchAction action,
                  std::uint32_t count = 1) {
  auto request = detail::make_latch_request(key, action, count);
  static_cast<void>(space.direct_requests().run(request, Clock::never()));
  return detail::latch_result(space, action, *request);
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

std::string_view CountDownLatch::key() const noexcept {
  return space_->space().without_prefix(key_);
}

bool CountDownLatch::try_set_count(std::uint32_t count) const {
  return run(space_->space(), key_, LatchAction::set, count) != 0;
}

std::uint32_t CountDownLatch::count_down() const {
  return run(space_->space(), key_, LatchAction::count_down);
}

std::uint32_t CountDownLatch::count() const {
  return run(space_->space(), key_, LatchAction::count);
}

void CountDownLatch::wait() const { static_cast<void>(wait_for(forever)); }

bool CountDownLatch::wait_for(Wait length) const {
  LockSpace& space = space_->space();
  const Clock::time_point began = space.clock().now();
  try {
    return detail::end_latch_wait(space, key_, space.latch_waits().wait(key_, length), began);
  } catch (const LockError& error) {
    detail::publish_failed_latch_wait(space, key_, error.what(), began);
    throw;
  }
}

bool CountDownLatch::destroy() const {
  return run(space_->space(), key_, LatchAction::destroy) != 0;
}

}  // namespace latchkey::inline v1
