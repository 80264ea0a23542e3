// When the next attempt to connect to a server is made.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include <latchkey/clock.hpp>

#include "backend/connection/failure.hpp"

namespace latchkey::inline v1::detail {

/// Exponential backoff with jitter, and what is known about the current outage. Pure; one thread at
/// a time.
///
/// | pause between attempts | when                                                              |
/// |------------------------|-------------------------------------------------------------------|
/// | 10 ms … 160 ms         | a request, a subscription or a recent caller wants the connection |
/// | 10 ms … 1 s            | nobody does                                                       |
///
/// Each pause doubles the one before it and varies by ±50 %, so that clients that lost the same
/// server do not return in step.
class ReconnectPolicy {
 public:
  using TimePoint = Clock::time_point;

  explicit ReconnectPolicy(std::uint64_t seed);

  [[nodiscard]] TimePoint next_attempt_at() const noexcept { return next_attempt_at_; }

  /// A caller needs the connection, and may need it again soon.
  void want(TimePoint now) noexcept;
  /// Shortens the current pause to that of a wanted connection.
  void hasten() noexcept;

  /// The connection is up. The outage is over.
  void connected(TimePoint now) noexcept;
  /// An attempt failed, or the connection ended. `wanted`: a request or a subscription needs it.
  void failed(ConnectionFailure failure, TimePoint now, bool wanted) noexcept;

  /// Why the server cannot be reached; null: it can, or no attempt has failed yet.
  [[nodiscard]] const ConnectionFailure* last_failure() const noexcept {
    return outage_ ? &outage_->failure : nullptr;
  }
  /// Whether the last failure has the text of `failure`.
  [[nodiscard]] bool repeats(const ConnectionFailure& failure) const noexcept {
    return outage_ && outage_->failure.text == failure.text;
  }
  /// When a request that fails fast (requests.hpp) and was submitted at `submitted` gives up: 250
  /// ms after the server was known to be down. Without an outage: never.
  [[nodiscard]] TimePoint gives_up_at(TimePoint submitted) const noexcept;

  /// In a forked child: the next attempt is the first one.
  void reset() noexcept;

 private:
  struct Outage {
    ConnectionFailure failure;  ///< why the last attempt failed, or the connection ended
    TimePoint since;            ///< when the first failure of the outage was reported
    TimePoint failed_at;        ///< when the last one was
  };

  [[nodiscard]] Clock::duration pause(bool wanted) noexcept;

  std::minstd_rand random_;
  TimePoint next_attempt_at_{};
  TimePoint wanted_until_{};
  std::uint32_t attempts_ = 0;  ///< how many failed in a row
  std::optional<TimePoint> up_since_;
  std::optional<Outage> outage_;
};

}  // namespace latchkey::inline v1::detail
