// Hold: what its holder can ask and do.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/hold.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <latchkey/lease.hpp>

#include "locks/hold/held.hpp"
#include "locks/hold/scope_holds.hpp"

namespace latchkey::inline v1 {
namespace {

using detail::with_held;

/// The MultiHold of a Hold of several keys, which the caller owns from now on.
detail::MultiHold::Owned owned_by(const detail::Held& several) noexcept {
  return detail::MultiHold::Owned(*std::get_if<detail::MultiHold*>(&several));
}

}  // namespace

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  release_quietly_after(std::chrono::milliseconds(0));
  held_ = std::exchange(other.held_, detail::Held());
  terms_ = other.terms_;
  scope_ = std::exchange(other.scope_, nullptr);
  return *this;
}

std::string_view Hold::key() const noexcept {
  if (is_empty()) return {};
  return with_held(held_, terms_, [](const auto& held) { return held.key(); });
}

bool Hold::covers(std::string_view key) const noexcept {
  if (is_empty()) return false;
  return with_held(held_, terms_, [&](const auto& held) { return held.covers(key); });
}

std::string Hold::id() const {
  if (is_empty()) return {};
  return with_held(held_, terms_, [](const auto& held) { return held.id(); });
}

LockType Hold::type() const noexcept { return is_empty() ? LockType::REENTRANT : terms_.type; }

std::uint32_t Hold::permits() const noexcept {
  if (is_empty() || terms_.type != LockType::PERMIT) return 0;
  return std::get<detail::RemoteHold*>(held_)->permits();
}

std::chrono::milliseconds Hold::remaining() const noexcept {
  if (is_empty()) return std::chrono::milliseconds(0);
  return with_held(held_, terms_, [](const auto& held) { return held.remaining(); });
}

std::optional<std::uint64_t> Hold::fencing_token() const noexcept {
  if (is_empty()) return std::nullopt;
  return with_held(held_, terms_, [](const auto& held) { return held.fencing_token(); });
}

std::optional<std::uint64_t> Hold::fencing_token(std::string_view key) const noexcept {
  if (is_empty()) return std::nullopt;
  return with_held(held_, terms_, [&](const auto& held) { return held.fencing_token(key); });
}

std::optional<std::uint64_t> Hold::fencing_token(std::size_t index) const noexcept {
  if (is_empty()) return std::nullopt;
  return with_held(held_, terms_, [&](const auto& held) { return held.fencing_token(index); });
}

std::optional<Fence> Hold::fence() const {
  if (!fencing_token()) return std::nullopt;  // one of several keys may have the name of them all
  return fence(key());
}

std::optional<Fence> Hold::fence(std::string_view key) const {
  if (is_empty()) return std::nullopt;
  return with_held(held_, terms_, [&](const auto& held) { return held.fence(key); });
}

std::optional<Fence> Hold::fence(std::size_t index) const {
  if (is_empty()) return std::nullopt;
  return with_held(held_, terms_, [&](const auto& held) { return held.fence(index); });
}

bool Hold::lost() const noexcept {
  if (is_empty()) return true;
  return with_held(held_, terms_, [](const auto& held) { return held.lost(); });
}

std::stop_token Hold::stop_token() const {
  if (!is_empty()) return with_held(held_, terms_, [](auto& held) { return held.stop_token(); });
  std::stop_source stopped;
  stopped.request_stop();
  return stopped.get_token();
}

bool Hold::revoked() const noexcept {
  if (is_empty()) return false;
  return with_held(held_, terms_, [](const auto& held) { return held.revoked(); });
}

std::stop_token Hold::revocation_token() const {
  if (is_empty()) return {};
  return with_held(held_, terms_, [](auto& held) { return held.revocation_token(); });
}

bool Hold::extend(std::chrono::milliseconds lease) {
  const Lease checked(lease);
  if (is_empty()) return false;
  return with_held(held_, terms_, [&](auto& held) { return held.extend(checked.length(lease)); });
}

void Hold::hold_for(std::chrono::milliseconds time) noexcept {
  if (is_empty()) return;
  with_held(held_, terms_, [&](auto& held) { held.hold_for(time); });
}

std::chrono::milliseconds Hold::end_scope() noexcept {
  detail::ScopeHold& scope = *std::exchange(scope_, nullptr);
  const std::chrono::milliseconds linger = scope.linger();
  detail::ScopeHolds::leave(scope);
  return linger;
}

bool Hold::release() { return give_back(std::chrono::milliseconds(0), nullptr); }

bool Hold::give_back(std::chrono::milliseconds linger, const detail::ErrorContext* context) {
  if (scope_ != nullptr) linger = std::max(linger, end_scope());
  if (is_empty()) return false;
  const detail::Held released = std::exchange(held_, detail::Held());
  if (auto* const* const remote = std::get_if<detail::RemoteHold*>(&released)) {
    return detail::SingleHold(**remote, terms_).release(linger, context);
  }
  return owned_by(released)->release(linger, context);
}

void Hold::release_quietly_after(std::chrono::milliseconds linger) noexcept {
  if (scope_ != nullptr) linger = std::max(linger, end_scope());
  if (is_empty()) return;
  const detail::Held released = std::exchange(held_, detail::Held());
  if (auto* const* const remote = std::get_if<detail::RemoteHold*>(&released)) {
    return detail::SingleHold(**remote, terms_).release_quietly(linger);
  }
  owned_by(released)->release_quietly(linger);
}

}  // namespace latchkey::inline v1
