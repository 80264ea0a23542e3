// The state behind a Hold of one key.
// SPDX-License-Identifier: BSL-1.0
#include "locks/hold/single_hold.hpp"

#include <algorithm>

#include "locks/coordinator/coordinator.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

std::string_view SingleHold::key() const noexcept {
  return remote_->home->key.view().substr(remote_->prefix_size);
}

std::chrono::milliseconds SingleHold::remaining() const noexcept {
  using std::chrono::milliseconds;
  if (lost()) return milliseconds(0);
  const auto left = remote_->deadline_point() - remote_->space->clock().now();
  return std::max(std::chrono::duration_cast<milliseconds>(left), milliseconds(0));
}

std::optional<std::uint64_t> SingleHold::fencing_token() const noexcept {
  if (!terms_.fenced || remote_->token == 0) return std::nullopt;
  return remote_->token;
}

std::optional<std::uint64_t> SingleHold::fencing_token(std::string_view key) const noexcept {
  return this->key() == key ? fencing_token() : std::nullopt;
}

std::optional<std::uint64_t> SingleHold::fencing_token(std::size_t index) const noexcept {
  return index == 0 ? fencing_token() : std::nullopt;
}

std::optional<Fence> SingleHold::fence(std::size_t index) const {
  return index == 0 ? fence(key()) : std::nullopt;
}

std::optional<Fence> SingleHold::fence(std::string_view key) const {
  const std::optional<std::uint64_t> token = fencing_token(key);
  if (!token) return std::nullopt;
  return Fence{.key = std::string(key), .type = terms_.type, .token = *token};
}

bool SingleHold::lost() const noexcept {
  if (remote_->lost.load(std::memory_order_acquire)) return true;
  return remote_->is_lost(remote_->space->clock().now());
}

std::stop_token SingleHold::stop_token() const {
  if (!inherited()) return remote_->space->stop_token(*remote_);
  std::stop_source stopped;
  stopped.request_stop();
  return stopped.get_token();
}

bool SingleHold::revoked() const noexcept {
  return !inherited() && remote_->space->revoked(*remote_);
}

std::stop_token SingleHold::revocation_token() const {
  return inherited() ? std::stop_token() : remote_->space->revocation_token(*remote_);
}

bool SingleHold::extend(std::chrono::milliseconds lease) {
  return !inherited() && remote_->space->extend(*remote_, terms_.type, lease);
}

void SingleHold::hold_for(std::chrono::milliseconds time) noexcept {
  if (!inherited()) remote_->space->hold_for(*remote_, time);
}

bool SingleHold::release(std::chrono::milliseconds linger, const ErrorContext* context) {
  return !inherited() && remote_->space->release(*remote_, terms_, linger, context);
}

void SingleHold::release_quietly(std::chrono::milliseconds linger) noexcept {
  if (!inherited()) remote_->space->release_quietly(*remote_, terms_, linger);
}

}  // namespace latchkey::inline v1::detail
