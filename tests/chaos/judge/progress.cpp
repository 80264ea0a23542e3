// Liveness: no hang after the last fault, no starvation before the first.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <string>
#include <vector>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

Nanos first_grant(const History& history, auto&& concerns_visit) {
  Nanos first = INT64_MAX;
  for (const Visit& visit : history.visits) {
    if (visit.outcome == Outcome::granted && visit.entered >= history.healed &&
        concerns_visit(visit)) {
      first = std::min(first, visit.entered);
    }
  }
  return first;
}

bool is_fair(const History& history, std::uint32_t key) {
  return std::ranges::any_of(history.visits, [&](const Visit& visit) {
    return visit.key == key && visit.type == LockType::FAIR;
  });
}

/// FAIR waiters that died together delay the others by up to 15 s, so a thread that waits for such
/// a key all the time has as long as the key has.
bool waits_for_fair_key(const History& history, std::uint32_t worker, std::uint32_t thread) {
  const Nanos last = history.healed + history.limits.hang;
  return std::ranges::any_of(history.visits, [&](const Visit& visit) {
    return visit.worker == worker && visit.thread == thread && visit.called <= last &&
           (visit.entered == 0 || visit.entered > last) && is_fair(history, visit.key);
  });
}

/// Where no process is promised its turn, a thread may wait while others get the key.
bool waits_out_of_turn(const History& history, std::uint32_t worker, std::uint32_t thread) {
  if (history.limits.turns) return false;
  const Nanos last = history.healed + history.limits.hang;
  return std::ranges::any_of(history.visits, [&](const Visit& visit) {
    if (visit.worker != worker || visit.thread != thread || visit.called > last) return false;
    if (visit.entered != 0 && visit.entered <= last) return false;
    return first_grant(history, [&](const Visit& other) { return other.key == visit.key; }) <= last;
  });
}

}  // namespace

void judge_progress(const History& history, Violations& found) {
  const auto check = [&](const std::string& who, Nanos first, Nanos limit) {
    const Nanos stall = stalled_length(history, history.healed, history.ended);
    if (std::min(first, history.ended) <= history.healed + limit + stall) return;
    found.push_back({"hang: no progress after the last fault healed", who});
  };
  for (std::uint32_t worker = 0; worker < history.workers; ++worker) {
    if (history.absent.contains(worker)) continue;
    for (std::uint32_t thread = 0; thread < history.threads; ++thread) {
      const Nanos first = first_grant(history, [&](const Visit& visit) {
        return visit.worker == worker && visit.thread == thread;
      });
      if (waits_out_of_turn(history, worker, thread)) continue;
      const bool fair = waits_for_fair_key(history, worker, thread);
      check("worker " + std::to_string(worker) + " thread " + std::to_string(thread), first,
            fair ? history.limits.hang_of_key : history.limits.hang);
    }
  }
  for (std::uint32_t key = 0; key < history.keys; ++key) {
    const auto is_of_key = [&](const Visit& visit) { return visit.key == key; };
    if (std::ranges::none_of(history.visits, is_of_key)) continue;  // no worker asks for it
    const Nanos first = first_grant(history, is_of_key);
    check("key " + std::to_string(key), first, history.limits.hang_of_key);
  }
}

namespace {

using Grants = std::vector<std::size_t>;  // grants of key 0 before the first fault, by worker

/// Not a worker that is left out. A worker that starts a program for each visit is a process of its
/// own in the queue, and gets its turn, but seldom asks: between two visits of a thread a program
/// ends and the next one starts.
bool asks_all_the_time(const History& history, std::uint32_t worker) {
  return static_cast<int>(worker) != history.limits.tool_worker && !history.absent.contains(worker);
}

/// Each process of latchkey gets a quarter of its even share of what these get together.
void check_each(const History& history, const Grants& grants, Violations& found) {
  std::vector<std::uint32_t> sharers;
  std::size_t all = 0;
  for (std::uint32_t worker = 0; worker < history.workers; ++worker) {
    if (is_foreign(history, worker) || !asks_all_the_time(history, worker)) continue;
    sharers.push_back(worker);
    all += grants[worker];
  }
  for (const std::uint32_t worker : sharers) {
    if (grants[worker] * 4 * sharers.size() >= all) continue;
    found.push_back({"starvation: less than a quarter of the even share",
                     "worker " + std::to_string(worker) + " entered " +
                         std::to_string(grants[worker]) + " of " + std::to_string(all) +
                         " times before the first fault"});
  }
}

/// The processes of latchkey, on average, get a quarter of what those of another library get, and
/// the other way round.
void check_sides(const History& history, const Grants& grants, Violations& found) {
  std::size_t ours = 0, theirs = 0, of_us = 0, of_them = 0;
  for (std::uint32_t worker = 0; worker < history.workers; ++worker) {
    if (history.absent.contains(worker)) continue;
    const bool foreign = is_foreign(history, worker);
    (foreign ? theirs : ours) += grants[worker];
    ++(foreign ? of_them : of_us);
  }
  if (of_us == 0 || of_them == 0) return;
  ours *= of_them;
  theirs *= of_us;
  if (ours * 4 >= theirs && theirs * 4 >= ours) return;
  found.push_back(
      {"starvation: less than a quarter of what the other library gets, or four times it",
       std::to_string(ours) + " to " + std::to_string(theirs)});
}

}  // namespace

// Threads of each worker ask for key 0 all the time.
void judge_shares(const History& history, Violations& found) {
  constexpr Nanos shortest = 1'000 * millisecond;
  constexpr std::size_t fewest = 40;
  if (!history.limits.process_queue) return;  // no share is promised
  if (history.calm - history.began < shortest || history.workers == 0) return;
  if (stalled(history, history.began, history.calm)) return;
  Grants grants(history.workers);
  std::size_t all = 0;
  for (const Visit& visit : history.visits) {
    if (visit.key != 0 || visit.outcome != Outcome::granted) continue;
    if (visit.entered >= history.calm || !asks_all_the_time(history, visit.worker)) continue;
    ++grants.at(visit.worker);
    ++all;
  }
  std::size_t asking = 0;
  for (std::uint32_t worker = 0; worker < history.workers; ++worker) {
    asking += asks_all_the_time(history, worker) ? 1 : 0;
  }
  if (all < fewest * asking) return;  // a machine that is too busy to say anything
  check_each(history, grants, found);
  if (!history.foreign.empty()) check_sides(history, grants, found);
}

}  // namespace latchkey::chaos
