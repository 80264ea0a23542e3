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

  void vote(std::size_t server, const Outcome& outcome);
  /// Counts servers without a reply as silent, for the reason `why`. All votes are in then.
  void close(const std::string& why);

  /// The joint outcome; empty: it depends on servers that have not replied.
  [[nodiscard]] std::optional<Outcome> decision(const std::vector<std::string>& names) const;

  /// Whether an acquire may have left a hold at the server: it granted it, or its reply is unknown
  /// or missing.
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
  [[nodiscard]] std::optional<Outcome> of_acquire(const std::vector<std::string>& names) const;
  [[nodiscard]] std::optional<Outcome> of_hold(const std::vector<std::string>& names) const;
  [[nodiscard]] std::optional<Outcome> of_release(const std::vector<std::string>& names) const;
  [[nodiscard]] Outcome busy() const;
  [[nodiscard]] Outcome ignorance(const std::vector<std::string>& names) const;

  Verb verb_;
  std::vector<std::optional<Outcome>> votes_;
};

}  // namespace latchkey::inline v1::detail::quorum
