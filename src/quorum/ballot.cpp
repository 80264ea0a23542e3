// The outcome of one request, from the replies of several servers.
// SPDX-License-Identifier: BSL-1.0
#include "quorum/ballot.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <string_view>

namespace latchkey::inline v1::detail::quorum {
namespace {

Outcome of_kind(Outcome::Kind kind) {
  Outcome outcome;
  outcome.kind = kind;
  return outcome;
}

}  // namespace

void Ballot::vote(std::size_t server, const Outcome& outcome) {
  if (!votes_[server]) votes_[server] = outcome;
}

void Ballot::close(const std::string& why) {
  for (std::optional<Outcome>& vote : votes_) {
    if (vote) continue;
    vote = of_kind(Kind::unknown);
    vote->reason = why;
  }
}

std::size_t Ballot::count(Kind kind) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      votes_, [&](const auto& vote) { return vote.has_value() && vote->kind == kind; }));
}

std::size_t Ballot::open() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(votes_, [](const auto& vote) { return !vote.has_value(); }));
}

bool Ballot::may_hold(std::size_t server) const noexcept {
  const auto& vote = votes_[server];
  return !vote || vote->kind == Kind::granted || vote->kind == Kind::unknown;
}

std::optional<Outcome> Ballot::decision(const std::vector<std::string>& names) const {
  switch (verb_) {
    case Verb::acquire: return of_acquire(names);
    case Verb::release:
    case Verb::leave: return of_release(names);
    default: return of_hold(names);
  }
}

std::optional<Outcome> Ballot::of_acquire(const std::vector<std::string>& names) const {
  const std::size_t yes = count(Kind::granted), no = count(Kind::busy);
  if (yes >= majority()) return of_kind(Kind::granted);
  if (yes + open() >= majority()) return std::nullopt;
  if (yes + no >= majority()) return busy();
  if (yes + no + open() >= majority()) return std::nullopt;
  const std::size_t refused = count(Kind::refused);
  if (refused < majority() && refused + open() >= majority()) return std::nullopt;
  return ignorance(names);
}

std::optional<Outcome> Ballot::of_hold(const std::vector<std::string>& names) const {
  const std::size_t yes = count(Kind::granted), no = count(Kind::gone);
  if (yes >= majority()) return of_kind(Kind::granted);
  if (no >= majority()) return of_kind(Kind::gone);
  if (open() > 0) return std::nullopt;
  return ignorance(names);
}

// Released: a majority replied, so no majority can hold it any more. Lost before: a majority must
// report it.
std::optional<Outcome> Ballot::of_release(const std::vector<std::string>& names) const {
  const std::size_t yes = count(Kind::granted), no = count(Kind::gone);
  if (yes >= majority()) return of_kind(Kind::granted);
  if (no >= majority()) return of_kind(Kind::gone);
  if (open() > 0) return std::nullopt;
  if (yes + no >= majority()) return of_kind(Kind::granted);
  return ignorance(names);
}

// With the time until enough leases have ended for a majority to be free. The holder's name is left
// out: it is an id that only the servers know.
Outcome Ballot::busy() const {
  Outcome outcome = of_kind(Kind::busy);
  const auto is_busy_until = [](const std::optional<Outcome>& vote) {
    return vote && vote->kind == Kind::busy && vote->retry_after;
  };
  const auto end_of = [](const std::optional<Outcome>& vote) { return *vote->retry_after; };
  auto ends = votes_ | ranges::views::filter(is_busy_until) | ranges::views::transform(end_of) |
              ranges::to<std::vector>();
  std::ranges::sort(ends);
  const std::size_t yes = count(Kind::granted);
  const std::size_t needed = majority() - yes;
  if (needed >= 1 && ends.size() >= needed) outcome.retry_after = ends[needed - 1];
  return outcome;
}

// The text lists the reply of each server.
Outcome Ballot::ignorance(const std::vector<std::string>& names) const {
  const bool forbidden = count(Kind::refused) > votes_.size() - majority();
  Outcome outcome = of_kind(forbidden ? Kind::refused : Kind::unknown);
  const std::size_t answered = count(Kind::granted) + count(Kind::busy) + count(Kind::gone);
  outcome.reason = std::to_string(answered) + " of " + std::to_string(votes_.size()) +
                   " servers answered, " + std::to_string(majority()) + " are needed";
  for (std::size_t server = 0; server < votes_.size(); ++server) {
    const auto& vote = votes_[server];
    outcome.reason += server == 0 ? ": " : "; ";
    outcome.reason += names[server] + " ";
    if (!vote) {
      outcome.reason += "has not answered yet";
      continue;
    }
    switch (vote->kind) {
      case Kind::granted: outcome.reason += "granted"; break;
      case Kind::busy: outcome.reason += "is busy"; break;
      case Kind::gone: outcome.reason += "does not have it"; break;
      case Kind::unknown: outcome.reason += "gave no answer"; break;
      case Kind::refused: outcome.reason += "refuses"; break;
    }
    const std::string& detail = vote->kind == Kind::busy ? vote->holder : vote->reason;
    if (!detail.empty()) outcome.reason += " (" + detail + ")";
  }
  return outcome;
}

}  // namespace latchkey::inline v1::detail::quorum
