// Promise 4: fencing tokens only rise, and a resource that checks them stays correct.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <map>
#include <vector>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

using Visits = std::vector<const Visit*>;

/// A token that was granted before a call began is smaller than what that call gets.
void check_order(const History& history, const Visits& granted, std::uint64_t last,
                 Violations& found) {
  Visits by_call = granted, by_grant = granted;
  std::ranges::sort(by_call, {}, &Visit::called);
  std::ranges::sort(by_grant, {}, &Visit::entered);
  auto next = by_grant.begin();
  const Visit* highest = nullptr;
  for (const Visit* const visit : by_call) {
    for (; next != by_grant.end() && (*next)->entered < visit->called; ++next) {
      if (highest == nullptr || (*next)->token > highest->token) highest = *next;
    }
    const bool fell = highest != nullptr && visit->token <= highest->token;
    if (!fell && visit->token > last) continue;
    found.push_back({"promise 4: a token does not rise",
                     describe(history, *visit) + "\n    after " +
                         (fell ? describe(history, *highest) : std::to_string(last))});
  }
}

void check_unique(const History& history, const Visits& granted, Violations& found) {
  std::map<std::uint64_t, const Visit*> owners;
  std::map<std::uint64_t, const Visit*> writers;
  for (const Visit* const visit : granted) {
    if (const auto [other, fresh] = owners.emplace(visit->token, visit); !fresh) {
      found.push_back({"promise 4: a token was given twice",
                       describe(history, *other->second) + "\n    " + describe(history, *visit)});
    }
    if (visit->fenced_write == 0) continue;
    if (const auto [other, fresh] = writers.emplace(visit->fenced_write, visit); !fresh) {
      found.push_back({"promise 4: an update of the fenced register is lost",
                       describe(history, *other->second) + "\n    " + describe(history, *visit)});
    }
  }
}

}  // namespace

void judge_tokens(const History& history, Violations& found) {
  std::vector<Visits> by_key(history.keys);
  for (const Visit& visit : history.visits) {
    if (visit.outcome == Outcome::granted && visit.type == LockType::FENCED) {
      by_key.at(visit.key).push_back(&visit);
    }
  }
  for (std::uint32_t key = 0; key < history.keys; ++key) {
    const std::uint64_t last = key < history.last_tokens.size() ? history.last_tokens[key] : 0;
    check_order(history, by_key[key], last, found);
    check_unique(history, by_key[key], found);
  }
}

}  // namespace latchkey::chaos
