// The outcome of one request, from the replies of several servers.
// SPDX-License-Identifier: BSL-1.0
#include "quorum/ballot.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace latchkey::inline v1::detail::quorum {
namespace {

Outcome of_kind(Outcome::Kind kind) noexcept {
  Outcome outcome;
  outcome.kind = kind;
  return outcome;
}

}  // namespace

void Ballot::vote(std::size_t server, Outcome outcome) noexcept {
  if (!votes_[server]) votes_[server] = std::move(outcome);
}

void Ballot::close(std::chrono::milliseconds allowed) noexcept {
  for (std::optional<Outcome>& vote : votes_) {
    if (vote) continue;
    vote = of_kind(Kind::unknown);
    try {
      vote->reason = "within " + std::to_string(allowed.count()) + " ms";
    } catch (const std::bad_alloc&) {
      continue;  // without a reason
    }
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
  return !vote || vote->kind == Kind::granted || (vote->kind == Kind::unknown && !vote->never_ran);
}

std::optional<Outcome> Ballot::decision(const std::vector<std::string>& names) const noexcept {
  switch (verb_) {
    case Verb::acquire: return of_acquire(names);
    case Verb::release:
    case Verb::leave: return of_release(names);
    default: return of_hold(names);
  }
}

std::optional<Outcome> Ballot::of_acquire(const std::vector<std::string>& names) const noexcept {
  const std::size_t yes = count(Kind::granted), no = count(Kind::busy);
  if (yes >= majority()) return of_kind(Kind::granted);
  if (yes + open() >= majority()) return std::nullopt;
  if (yes + no >= majority()) return busy();
  if (yes + no + open() >= majority()) return std::nullopt;
  const std::size_t refused = count(Kind::refused);
  if (refused < majority() && refused + open() >= majority()) return std::nullopt;
  return ignorance(names);
}

std::optional<Outcome> Ballot::of_hold(const std::vector<std::string>& names) const noexcept {
  const std::size_t yes = count(Kind::granted), no = count(Kind::gone);
  if (yes >= majority()) return of_kind(Kind::granted);
  if (no >= majority()) return of_kind(Kind::gone);
  if (open() > 0) return std::nullopt;
  return ignorance(names);
}

// Released: a majority replied, so no majority can hold it any more. Lost before: a majority must
// report it.
std::optional<Outcome> Ballot::of_release(const std::vector<std::string>& names) const noexcept {
  const std::size_t yes = count(Kind::granted), no = count(Kind::gone);
  if (yes >= majority()) return of_kind(Kind::granted);
  if (no >= majority()) return of_kind(Kind::gone);
  if (open() > 0) return std::nullopt;
  if (yes + no >= majority()) return of_kind(Kind::granted);
  return ignorance(names);
}

// The outcome has the time until enough leases have ended for a majority to be free, but no holder:
// that is an id that only the servers know.
Outcome Ballot::busy() const noexcept {
  Outcome outcome = of_kind(Kind::busy);
  const auto ends = [](const auto& vote) {
    return vote.has_value() && vote->kind == Kind::busy && vote->retry_after.has_value();
  };
  const std::size_t yes = count(Kind::granted);
  const std::size_t needed = majority() - yes;
  for (const auto& last : votes_) {
    if (!ends(last)) continue;
    const auto ended = std::ranges::count_if(votes_, [&](const auto& vote) {
      return ends(vote) && *vote->retry_after <= *last->retry_after;
    });
    if (static_cast<std::size_t>(ended) < needed) continue;
    if (!outcome.retry_after || *last->retry_after < *outcome.retry_after) {
      outcome.retry_after = last->retry_after;
    }
  }
  return outcome;
}

Outcome Ballot::ignorance(const std::vector<std::string>& names) const noexcept {
  const bool forbidden = count(Kind::refused) > votes_.size() - majority();
  Outcome outcome = of_kind(forbidden ? Kind::refused : Kind::unknown);
  try {
    outcome.reason = replies(names);
  } catch (const std::bad_alloc&) {
    outcome.reason = "out of memory";  // short enough to need none
  }
  return outcome;
}

// The reply of each server.
std::string Ballot::replies(const std::vector<std::string>& names) const {
  const std::size_t answered = count(Kind::granted) + count(Kind::busy) + count(Kind::gone);
  std::string text = std::to_string(answered) + " of " + std::to_string(votes_.size()) +
                     " servers answered, " + std::to_string(majority()) + " are needed";
  for (std::size_t server = 0; server < votes_.size(); ++server) {
    const auto& vote = votes_[server];
    text += server == 0 ? ": " : "; ";
    text += names[server] + " ";
    if (!vote) {
      text += "has not answered yet";
      continue;
    }
    switch (vote->kind) {
      case Kind::granted: text += "granted"; break;
      case Kind::busy: text += "is busy"; break;
      case Kind::gone: text += "does not have it"; break;
      case Kind::unknown: text += "gave no answer"; break;
      case Kind::refused: text += "refuses"; break;
    }
    const std::string& detail = vote->kind == Kind::busy ? vote->holder : vote->reason;
    if (!detail.empty()) text += " (" + detail + ")";
  }
  return text;
}

}  // namespace latchkey::inline v1::detail::quorum
