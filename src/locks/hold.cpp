// Hold: what its holder can ask and do.
#include <latchkey/hold.hpp>

#include <algorithm>
#include <exception>

#include "locks/lock_space.hpp"

namespace latchkey {

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  release_quietly_after(std::chrono::milliseconds(0));
  remote_ = std::exchange(other.remote_, nullptr);
  terms_ = other.terms_;
  return *this;
}

std::string_view Hold::key() const noexcept {
  return remote_ == nullptr ? std::string_view() : std::string_view(remote_->home->key);
}

LockType Hold::type() const noexcept {
  return remote_ == nullptr ? LockType::REENTRANT : terms_.type;
}

std::chrono::milliseconds Hold::remaining() const noexcept {
  using std::chrono::milliseconds;
  if (lost()) return milliseconds(0);
  const auto left = remote_->deadline_point() - remote_->space->clock().now();
  return std::max(std::chrono::duration_cast<milliseconds>(left), milliseconds(0));
}

std::optional<std::uint64_t> Hold::fencing_token() const noexcept {
  if (remote_ == nullptr || remote_->token == 0) return std::nullopt;
  return remote_->token;
}

bool Hold::lost() const noexcept {
  if (remote_ == nullptr || remote_->lost.load(std::memory_order_acquire)) return true;
  return remote_->is_lost(remote_->space->clock().now());
}

std::stop_token Hold::stop_token() const {
  if (remote_ == nullptr || remote_->inherited.load(std::memory_order_relaxed)) {
    std::stop_source stopped;
    stopped.request_stop();
    return stopped.get_token();
  }
  return remote_->space->stop_token(*remote_);
}

bool Hold::extend(std::chrono::milliseconds lease) {
  const Lease checked(lease);
  if (remote_ == nullptr || remote_->inherited.load(std::memory_order_relaxed)) return false;
  return remote_->space->extend(*remote_, terms_.type, checked.length(lease));
}

bool Hold::release() { return release_after(std::chrono::milliseconds(0)); }

bool Hold::release_after(std::chrono::milliseconds linger) {
  detail::RemoteHold* const remote = std::exchange(remote_, nullptr);
  if (remote == nullptr || remote->inherited.load(std::memory_order_relaxed)) return false;
  return remote->space->release(*remote, terms_.type, terms_.watchdog, linger);
}

void Hold::release_quietly_after(std::chrono::milliseconds linger) noexcept {
  detail::RemoteHold* const remote = std::exchange(remote_, nullptr);
  if (remote == nullptr || remote->inherited.load(std::memory_order_relaxed)) return;
  remote->space->release_quietly(*remote, terms_.type, terms_.watchdog, linger);
}

}  // namespace latchkey
