// The outcome of one request, from the replies of several servers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail::quorum {

/// Collects the outcomes of one request, one from each server, until the joint outcome cannot
/// change whatever the remaining servers reply. No thread, no clock.
class Ballot {
 public:
  Ballot(Verb verb, std::size_t servers) : verb_(verb), votes_(servers) {}

  void vote(std::size_t server, Outcome outcome) noexcept;
  /// Every server that has not replied within `allowed` votes unknown. All votes are in then.
  void close(std::chrono::milliseconds allowed) noexcept;

  /// The joint outcome; empty: it depends on servers that have not replied. Its reason contains the
  /// reply of each server by name, or only says that no memory is left for them.
  [[nodiscard]] std::optional<Outcome> decision(
      const std::vector<std::string>& names) const noexcept;

  /// Whether an acquire may have left a hold at the server: it granted it, or its reply is missing,
  /// or unknown although the acquire may have been sent.
  [[nodiscard]] bool may_hold(std::size_t server) const noexcept;
  [[nodiscard]] bool granted(std::size_t server) const noexcept {
    return votes_[server].has_value() && votes_[server]->kind == Kind::granted;
  }
  [[nodiscard]] bool voted(std::size_t server) const noexcept { return votes_[server].has_value(); }

 private:
  using Kind = Outcome::Kind;

  [[nodiscard]] std::size_t majority() const noexcept { return votes_.size() / 2 + 1; }
  [[nodiscard]] std::size_t count(Kind kind) const noexcept;
  [[nodiscard]] std::size_t open() const noexcept;
  [[nodiscard]] std::optional<Outcome> of_acquire(
      const std::vector<std::string>& names) const noexcept;
  [[nodiscard]] std::optional<Outcome> of_hold(
      const std::vector<std::string>& names) const noexcept;
  [[nodiscard]] std::optional<Outcome> of_release(
      const std::vector<std::string>& names) const noexcept;
  [[nodiscard]] Outcome busy() const noexcept;
  [[nodiscard]] Outcome ignorance(const std::vector<std::string>& names) const noexcept;
  [[nodiscard]] std::string replies(const std::vector<std::string>& names) const;

  Verb verb_;
  std::vector<std::optional<Outcome>> votes_;
};

}  // namespace latchkey::inline v1::detail::quorum
