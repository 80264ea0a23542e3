// Hold: what its holder can ask and do.
#include <latchkey/hold.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>

#include "locks/hold/multi_hold.hpp"
#include "locks/hold/scope_holds.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey {
namespace {

detail::RemoteHold& single(detail::Held& held) noexcept {
  return static_cast<detail::RemoteHold&>(held);
}

}  // namespace

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  release_quietly_after(std::chrono::milliseconds(0));
  held_ = std::exchange(other.held_, nullptr);
  terms_ = other.terms_;
  scope_ = std::exchange(other.scope_, nullptr);
  return *this;
}

detail::RemoteHold* Hold::remote() const noexcept {
  if (held_ == nullptr) return nullptr;
  detail::RemoteHold& remote = single(*held_);
  return remote.inherited.load(std::memory_order_relaxed) ? nullptr : &remote;
}

std::string_view Hold::key() const noexcept {
  if (held_ == nullptr) return {};
  if (terms_.several) return detail::MultiHold::of(*held_).name();
  return single(*held_).home->key.view();
}

bool Hold::covers(std::string_view key) const noexcept {
  if (held_ == nullptr) return false;
  if (terms_.several) return detail::MultiHold::of(*held_).covers(key);
  return this->key() == key;
}

std::string Hold::id() const {
  if (held_ == nullptr) return {};
  if (terms_.several) return detail::MultiHold::of(*held_).ids();
  return single(*held_).id.text();
}

LockType Hold::type() const noexcept {
  return held_ == nullptr ? LockType::REENTRANT : terms_.type;
}

std::chrono::milliseconds Hold::remaining() const noexcept {
  using std::chrono::milliseconds;
  if (held_ != nullptr && terms_.several) return detail::MultiHold::of(*held_).remaining();
  if (lost()) return milliseconds(0);
  const detail::RemoteHold& remote = single(*held_);
  const auto left = remote.deadline_point() - remote.space->clock().now();
  return std::max(std::chrono::duration_cast<milliseconds>(left), milliseconds(0));
}

std::optional<std::uint64_t> Hold::fencing_token() const noexcept {
  if (held_ == nullptr || terms_.several || single(*held_).token == 0) return std::nullopt;
  return single(*held_).token;
}

std::optional<std::uint64_t> Hold::fencing_token(std::string_view key) const noexcept {
  if (held_ == nullptr) return std::nullopt;
  if (terms_.several) return detail::MultiHold::of(*held_).fencing_token(key);
  return this->key() == key ? fencing_token() : std::nullopt;
}

bool Hold::lost() const noexcept {
  if (held_ == nullptr) return true;
  if (terms_.several) return detail::MultiHold::of(*held_).lost();
  const detail::RemoteHold& remote = single(*held_);
  if (remote.lost.load(std::memory_order_acquire)) return true;
  return remote.is_lost(remote.space->clock().now());
}

std::stop_token Hold::stop_token() const {
  if (held_ != nullptr && terms_.several) return detail::MultiHold::of(*held_).stop_token();
  if (detail::RemoteHold* const held = remote()) return held->space->stop_token(*held);
  std::stop_source stopped;
  stopped.request_stop();
  return stopped.get_token();
}

bool Hold::extend(std::chrono::milliseconds lease) {
  const Lease checked(lease);
  if (held_ != nullptr && terms_.several) return detail::MultiHold::of(*held_).extend(lease);
  detail::RemoteHold* const held = remote();
  if (held == nullptr) return false;
  return held->space->extend(*held, terms_.type, checked.length(lease));
}

std::chrono::milliseconds Hold::end_scope() noexcept {
  detail::ScopeHold& scope = *std::exchange(scope_, nullptr);
  const std::chrono::milliseconds linger = scope.linger();
  detail::ScopeHolds::leave(scope);
  return linger;
}

bool Hold::release() { return release_after(std::chrono::milliseconds(0)); }

bool Hold::release_after(std::chrono::milliseconds linger) { return give_back(linger, nullptr); }

bool Hold::give_back(std::chrono::milliseconds linger, const detail::Asker* asker) {
  if (scope_ != nullptr) linger = std::max(linger, end_scope());
  if (held_ != nullptr && terms_.several) {
    const std::unique_ptr<detail::MultiHold> several(
        &detail::MultiHold::of(*std::exchange(held_, nullptr)));
    return several->release(linger, asker);
  }
  detail::RemoteHold* const held = remote();
  held_ = nullptr;
  return held != nullptr &&
         held->space->release(*held, terms_.type, terms_.watchdog, linger, asker);
}

void Hold::release_quietly_after(std::chrono::milliseconds linger) noexcept {
  if (scope_ != nullptr) linger = std::max(linger, end_scope());
  if (held_ != nullptr && terms_.several) {
    const std::unique_ptr<detail::MultiHold> several(
        &detail::MultiHold::of(*std::exchange(held_, nullptr)));
    return several->release_quietly(linger);
  }
  detail::RemoteHold* const held = remote();
  held_ = nullptr;
  if (held == nullptr) return;
  held->space->release_quietly(*held, terms_.type, terms_.watchdog, linger);
}

}  // namespace latchkey
