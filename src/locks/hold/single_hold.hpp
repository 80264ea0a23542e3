// The state behind a Hold of one key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/fence.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>

#include "locks/coordinator/hold_limits.hpp"
#include "locks/coordinator/remote_hold.hpp"

namespace latchkey::inline v1::detail {

struct ErrorContext;

/// The terms of the first local hold of a RemoteHold.
[[nodiscard]] inline HoldTerms first_terms(LockType type, const Lease& lease,
                                           bool fenced) noexcept {
  const bool has_limit = lease.held_at_most().count() != 0;
  return {.type = type,
          .watchdog = lease.is_watchdog(),
          .fenced = fenced || type == LockType::FENCED,
          .limit = has_limit ? HoldLimits::first : HoldLimits::Number{0}};
}

/// One Hold's share of a RemoteHold. A handle: copies refer to the same share, which is released
/// once. The functions mean what Hold documents; lost() and stop_token() may be called by any
/// number of threads at once.
class SingleHold {
 public:
  SingleHold(RemoteHold& remote, HoldTerms terms) noexcept : remote_(&remote), terms_(terms) {}

  [[nodiscard]] std::string_view key() const noexcept;
  [[nodiscard]] bool covers(std::string_view key) const noexcept { return this->key() == key; }
  [[nodiscard]] std::string id() const { return remote_->id.text(); }
  [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> fencing_token() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> fencing_token(std::string_view key) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> fencing_token(std::size_t index) const noexcept;
  [[nodiscard]] std::optional<Fence> fence(std::string_view key) const;
  [[nodiscard]] std::optional<Fence> fence(std::size_t index) const;
  [[nodiscard]] bool lost() const noexcept;
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool revoked() const noexcept;
  [[nodiscard]] std::stop_token revocation_token() const;

  bool extend(std::chrono::milliseconds lease);
  void hold_for(std::chrono::milliseconds time) noexcept;
  /// `context` as for throw_answer.
  bool release(std::chrono::milliseconds linger, const ErrorContext* context);
  void release_quietly(std::chrono::milliseconds linger) noexcept;

  [[nodiscard]] HoldTerms terms() const noexcept { return terms_; }
  [[nodiscard]] RemoteHold& remote() const noexcept { return *remote_; }
  /// This process is a fork of the holder: the hold is lost, and releasing it does nothing.
  [[nodiscard]] bool inherited() const noexcept {
    return remote_->inherited.load(std::memory_order_relaxed);
  }

 private:
  RemoteHold* remote_;
  HoldTerms terms_;
};

}  // namespace latchkey::inline v1::detail
