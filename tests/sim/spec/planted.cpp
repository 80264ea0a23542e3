// The changes of a history that TLC must reject.
#include "sim/spec/planted.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

namespace latchkey::inline v1::sim {
namespace {

using Steps = std::vector<Observation>;

std::int64_t& number(Observation& step, std::size_t argument) {
  return std::get<std::int64_t>(step.arguments[argument]);
}

std::string_view text(const Observation& step, std::size_t argument) {
  return std::get<std::string_view>(step.arguments[argument]);
}

bool is(const Observation& step, std::string_view kind) { return step.kind == kind; }

// The arguments of "acquired" that are used here.
constexpr std::size_t client = 1, type = 4, permits = 5, deadline = 7;

/// Calls `change` with each step of that kind until one was changed.
template <class Change>
bool change_first(Steps& steps, std::string_view kind, Change change) {
  return std::ranges::any_of(steps,
                             [&](Observation& step) { return is(step, kind) && change(step); });
}

bool mentions_fault(const Steps& steps) {
  return std::ranges::any_of(steps, [](const Observation& step) { return is(step, "fault"); });
}

std::int64_t client_of(const Steps& steps, std::int64_t hold) {
  for (const Observation& step : steps) {
    if (is(step, "acquired") && std::get<std::int64_t>(step.arguments[0]) == hold) {
      return std::get<std::int64_t>(step.arguments[client]);
    }
  }
  return 0;
}

/// The time that the clock of a client shows; clients are numbered from 1.
std::int64_t clock_of(const Observation& step, std::int64_t its_client) {
  return step.clocks[static_cast<std::size_t>(its_client) - 1];
}

// The caller that gives the lock back keeps it, while another client is granted it.
bool two_holders(Steps& steps) {
  if (mentions_fault(steps)) return false;
  for (std::size_t first = 0; first < steps.size(); ++first) {
    Observation& holder = steps[first];
    const bool locks = is(holder, "acquired") && text(holder, type) != "READ";
    if (!locks || text(holder, type) == "PERMIT") continue;
    const std::int64_t hold = number(holder, 0), its = number(holder, client);
    for (std::size_t next = first + 1; next < steps.size(); ++next) {
      if (is(steps[next], "acquired") && number(steps[next], client) == its) break;
      if (!is(steps[next], "calls") || number(steps[next], 0) != hold) continue;
      const auto other =
          std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(next), steps.end(),
                       [](const Observation& step) { return is(step, "acquired"); });
      if (other == steps.end() || number(*other, client) == its) break;
      if (clock_of(*other, its) >= number(holder, deadline)) break;
      steps[next].arguments[2] = false;  // as a call of extend()
      return true;
    }
  }
  return false;
}

bool too_many_permits(Steps& steps) {
  if (mentions_fault(steps)) return false;
  return change_first(steps, "acquired", [](Observation& step) {
    if (text(step, type) != "PERMIT") return false;
    number(step, permits) = 4;
    return true;
  });
}

bool later_deadline(Steps& steps) {
  return change_first(steps, "moved", [](Observation& step) {
    number(step, 1) += 1'000'000;
    return true;
  });
}

bool earlier_deadline(Steps& steps) {
  return change_first(steps, "moved", [&](Observation& step) {
    const auto granted = std::ranges::find_if(steps, [&](Observation& each) {
      return is(each, "acquired") && number(each, 0) == number(step, 0);
    });
    number(step, 1) = number(*granted, deadline) - 1'000;
    return true;
  });
}

bool deadline_without_reply(Steps& steps) {
  return change_first(steps, "moved", [](Observation& step) {
    number(step, 4) -= 1;
    return true;
  });
}

// lost() returns false again.
bool lost_hold_returns(Steps& steps) {
  for (std::size_t place = 0; place < steps.size(); ++place) {
    if (!is(steps[place], "word") || text(steps[place], 1) != "lost") continue;
    Observation again = steps[place];
    again.arguments[1] = std::string_view("held");
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(place) + 1, again);
    return true;
  }
  return false;
}

bool release_of_a_lost_hold_is_true(Steps& steps) {
  for (std::size_t call = 0; call < steps.size(); ++call) {
    if (!is(steps[call], "calls")) continue;
    const std::int64_t hold = number(steps[call], 0), caller = number(steps[call], 1);
    const bool lost = std::any_of(
        steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(call), [&](Observation& step) {
          return is(step, "word") && number(step, 0) == hold && text(step, 1) == "lost";
        });
    if (!lost) continue;
    const std::int64_t its = client_of(steps, hold);
    const auto answer = std::find_if(
        steps.begin() + static_cast<std::ptrdiff_t>(call), steps.end(), [&](Observation& step) {
          return is(step, "told") && number(step, 0) == its && number(step, 1) == caller;
        });
    if (answer == steps.end()) continue;
    answer->arguments[2] = true;
    return true;
  }
  return false;
}

// The holder of a hold that a fault took away is not told, and holds it when the time is over.
bool loss_is_not_noticed(Steps& steps) {
  for (std::size_t word = 0; word < steps.size(); ++word) {
    if (!is(steps[word], "word") || text(steps[word], 1) != "lost") continue;
    const std::int64_t hold = number(steps[word], 0), its = client_of(steps, hold);
    std::int64_t by = 0, until = 0;
    for (std::size_t before = 0; before < word; ++before) {
      Observation& step = steps[before];
      if (is(step, "fault")) by = 0;
      if (is(step, "early") && number(step, 0) == hold) by = number(step, 1);
      if (is(step, "cleared") && number(step, 0) == hold) by = 0;
      if (is(step, "acquired") && number(step, 0) == hold) until = number(step, deadline);
      if (is(step, "moved") && number(step, 0) == hold) until = number(step, 1);
    }
    if (by == 0) continue;
    for (std::size_t after = word + 1; after < steps.size(); ++after) {
      Observation& step = steps[after];
      const bool about_it = is(step, "calls") || is(step, "dropped") || is(step, "word");
      if (is(step, "fault") || is(step, "crashed") || clock_of(step, its) >= until) break;
      if (about_it && number(step, 0) == hold) break;
      if (step.at <= by) continue;
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(word));
      return true;
    }
  }
  return false;
}

bool token_falls(Steps& steps) {
  bool is_second = false;
  return change_first(steps, "issued", [&](Observation& step) {
    if (!std::exchange(is_second, true)) return false;
    number(step, 0) = number(step, 1) = 1;
    return true;
  });
}

// The second one who waits had come first, but is granted the lock second.
bool out_of_turn(Steps& steps) {
  const auto kind_is_of_queue = [](const Observation& step) {
    return is(step, "joined") || is(step, "left") || is(step, "served");
  };
  std::vector<Observation*> queue;
  for (Observation& step : steps) {
    if (kind_is_of_queue(step)) queue.push_back(&step);
  }
  for (std::size_t place = 0; place + 2 < queue.size(); ++place) {
    const bool two = is(*queue[place], "joined") && is(*queue[place + 1], "joined");
    Observation& next = *queue[place + 2];
    if (!two || !is(next, "served") || next.arguments != queue[place]->arguments) continue;
    std::swap(queue[place]->arguments, queue[place + 1]->arguments);
    return true;
  }
  return false;
}

}  // namespace

const std::vector<Planted>& all_planted() {
  static const std::vector<Planted> list = {
      {"two-holders", "Promise1_Exclusion", two_holders},
      {"too-many-permits", "Promise1_Permits", too_many_permits},
      {"later-deadline", "Promise2_DeadlineCountsFromSent", later_deadline},
      {"earlier-deadline", "Promise2_DeadlineNeverMovesBack", earlier_deadline},
      {"deadline-without-reply", "Promise2_DeadlineMovesWithReplies", deadline_without_reply},
      {"lost-hold-returns", "Promise2_LostForEver", lost_hold_returns},
      {"release-of-a-lost-hold", "Promise2_AnswerOfALostHoldIsFalse",
       release_of_a_lost_hold_is_true},
      {"loss-is-not-noticed", "Promise3_NoticedInTime", loss_is_not_noticed},
      {"token-falls", "Promise4_TokensRise", token_falls},
      {"out-of-turn", "Fair_FirstComeFirstServed", out_of_turn},
  };
  return list;
}

}  // namespace latchkey::inline v1::sim
