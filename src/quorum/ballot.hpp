// What a majority of servers says to one request.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

namespace latchkey::detail::quorum {

/// Collects the outcomes of one request, one from each server, until what they come to is certain
/// whatever the others will say. No thread, no clock.
class Ballot {
 public:
  Ballot(Verb verb, std::size_t servers) : verb_(verb), votes_(servers) {}

  void vote(std::size_t server, const Outcome& outcome);
  /// Those that have not voted are silent: nothing is open any more.
  void close(const std::string& why);

  /// What it comes to; empty: that depends on those who have not voted.
  [[nodiscard]] std::optional<Outcome> decision(const std::vector<std::string>& names) const;

  /// Servers where an acquire may have left a hold: they granted it, or nobody knows.
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

}  // namespace latchkey::detail::quorum
