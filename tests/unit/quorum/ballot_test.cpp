// Ballot: all combinations of five votes, after each vote.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "quorum/ballot.hpp"

namespace latchkey::detail::quorum {
namespace {

using Kind = Outcome::Kind;

const std::vector<std::string> names{"a", "b", "c", "d", "e"};

Outcome said(Kind kind, std::string text = {}) {
  Outcome outcome;
  outcome.kind = kind;
  (kind == Kind::busy ? outcome.holder : outcome.reason) = std::move(text);
  return outcome;
}

/// Calls `visit` with every combination of these four replies by five servers.
template <class Visit>
void each_vote(const std::array<Kind, 4>& kinds, Visit&& visit) {
  for (unsigned number = 0; number < 1'024; ++number) {
    std::array<Kind, 5> votes{};
    for (std::size_t at = 0; at < 5; ++at) votes[at] = kinds[number >> (2 * at) & 3U];
    visit(votes);
  }
}

std::size_t votes_for(const std::array<Kind, 5>& votes, Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(votes, kind));
}

/// The decision, and that it never changes once it is there.
Outcome decided(Verb verb, const std::array<Kind, 5>& votes) {
  Ballot ballot(verb, 5);
  std::optional<Outcome> first;
  for (std::size_t at = 0; at < 5; ++at) {
    ballot.vote(at, said(votes[at]));
    const auto now = ballot.decision(names);
    EXPECT_TRUE(!first || (now && now->kind == first->kind));
    if (!first) first = now;
  }
  EXPECT_TRUE(first.has_value());
  return first.value_or(Outcome{});
}

TEST(Ballot, AnAcquireNeedsAMajorityOfGrants) {
  each_vote({Kind::granted, Kind::busy, Kind::unknown, Kind::refused}, [](const auto& votes) {
    const std::size_t yes = votes_for(votes, Kind::granted), no = votes_for(votes, Kind::busy);
    const Kind expected = yes >= 3                              ? Kind::granted
                          : yes + no >= 3                       ? Kind::busy
                          : votes_for(votes, Kind::refused) > 2 ? Kind::refused
                                                                : Kind::unknown;
    EXPECT_EQ(decided(Verb::acquire, votes).kind, expected);
  });
}

TEST(Ballot, ARenewalNeedsAMajorityThatStillHadIt) {
  for (const Verb verb : {Verb::renew, Verb::verify, Verb::downgrade}) {
    each_vote({Kind::granted, Kind::gone, Kind::unknown, Kind::refused}, [verb](const auto& votes) {
      const Kind expected = votes_for(votes, Kind::granted) >= 3   ? Kind::granted
                            : votes_for(votes, Kind::gone) >= 3    ? Kind::gone
                            : votes_for(votes, Kind::refused) >= 3 ? Kind::refused
                                                                   : Kind::unknown;
      EXPECT_EQ(decided(verb, votes).kind, expected);
    });
  }
}

TEST(Ballot, AReleaseNeedsAMajorityThatAnswers) {
  each_vote({Kind::granted, Kind::gone, Kind::unknown, Kind::refused}, [](const auto& votes) {
    const std::size_t yes = votes_for(votes, Kind::granted), no = votes_for(votes, Kind::gone);
    const Kind expected = no >= 3                                ? Kind::gone
                          : yes + no >= 3                        ? Kind::granted
                          : votes_for(votes, Kind::refused) >= 3 ? Kind::refused
                                                                 : Kind::unknown;
    EXPECT_EQ(decided(Verb::release, votes).kind, expected);
  });
}

TEST(Ballot, IsDecidedByTheFirstMajority) {
  Ballot ballot(Verb::acquire, 5);
  for (const std::size_t server : {4U, 0U}) {
    ballot.vote(server, said(Kind::granted));
    EXPECT_FALSE(ballot.decision(names));
  }
  ballot.vote(2, said(Kind::granted));
  EXPECT_EQ(ballot.decision(names)->kind, Kind::granted);
  EXPECT_TRUE(ballot.may_hold(1)) << "it got the request, and its reply is unknown";
}

TEST(Ballot, ABusyMajorityRetriesWhenEnoughLeasesHaveEnded) {
  Ballot ballot(Verb::acquire, 5);
  const int ends[] = {70, 30, 50, 90};
  for (std::size_t at = 0; at < 4; ++at) {
    Outcome busy = said(Kind::busy, "owner " + std::to_string(at));
    busy.retry_after = std::chrono::milliseconds(ends[at]);
    ballot.vote(at, busy);
  }
  ballot.vote(4, said(Kind::granted));
  const auto outcome = ballot.decision(names);
  EXPECT_EQ(outcome->kind, Kind::busy);
  EXPECT_EQ(outcome->holder, "") << "an id that nobody knows";
  EXPECT_EQ(outcome->retry_after, std::chrono::milliseconds(50)) << "two more make a majority";
}

TEST(Ballot, AnUnknownOutcomeListsTheReplyOfEachServer) {
  Ballot ballot(Verb::acquire, 5);
  ballot.vote(0, said(Kind::granted));
  ballot.vote(1, said(Kind::unknown, "connection refused"));
  ballot.vote(2, said(Kind::refused, "no permission"));
  EXPECT_FALSE(ballot.decision(names));
  ballot.close(std::chrono::milliseconds(50));
  const auto outcome = ballot.decision(names);
  EXPECT_EQ(outcome->kind, Kind::unknown);
  EXPECT_EQ(
      outcome->reason,
      "1 of 5 servers answered, 3 are needed: a granted; b gave no answer (connection "
      "refused); c refuses (no permission); d gave no answer (within 50 ms); e gave no answer "
      "(within 50 ms)");
}

}  // namespace
}  // namespace latchkey::detail::quorum
