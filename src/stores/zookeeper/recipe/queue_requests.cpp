// The requests of the places in a queue, and how all start over after memory was missing.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <utility>

#include "stores/zookeeper/recipe/queue_recipe.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

using std::chrono::milliseconds;

/// How many fencing tokens one entry has: its stamp and a number below this one.
constexpr std::uint32_t tokens_per_entry = 256;
/// How long a place in the process queue stays without another acquire.
constexpr milliseconds process_queue_stay = std::chrono::seconds(10);

bool waits_in_line(const Request& request) noexcept {
  return request.queues || request.queue_wait > milliseconds(0);
}

/// How long a place stays without another acquire. One that was not asked for, a READ's for
/// example, ends with the lease: for so long its owner repeats a release that had no reply.
milliseconds stay_of(const Request& request) noexcept {
  if (request.type == LockType::FAIR) return request.queue_wait;
  return request.queues ? process_queue_stay : request.lease;
}

}  // namespace

// The last of the tokens that the entry reserves. The next entry has a higher stamp.
std::uint64_t QueueRecipe::token_of(const Place& place) noexcept {
  return place.fenced ? place.stamp * tokens_per_entry + place.tokens - 1 : 0;
}

void QueueRecipe::submit(Request& request, Sink& sink) {
  if (request.verb == Verb::acquire && request.tokens > tokens_per_entry) {
    return outbox_.refuse(request, sink,
                          "an acquire reserves at most " + std::to_string(tokens_per_entry) +
                              " fencing tokens at this store");
  }
  Place& place = place_of(request.key, request.id);
  place.jobs.push_back({&request, &sink});
  run(place);
  sweep(*place.line);
}

void QueueRecipe::listen(std::string_view key, const HoldId& id, bool on) {
  Place& place = place_of(key, id);
  place.listens = on;
  sweep(*place.line);
}

bool QueueRecipe::acquires(const Place& place) noexcept {
  return !place.jobs.empty() && place.jobs.front().request->verb == Verb::acquire;
}

void QueueRecipe::run(Place& place) {
  while (!place.jobs.empty() && place.operations == 0) begin(place);
}

// A hold whose lease has ended, but not its timer, is deleted first.
void QueueRecipe::begin(Place& place) {
  Job& job = place.jobs.front();
  if (is_over(place)) {
    remove(place);
    if (job.request->verb != Verb::acquire) complete(place, Outcome::Kind::gone);
    return;
  }
  switch (job.request->verb) {
    case Verb::acquire: return begin_acquire(place, *job.request);
    case Verb::release:
    case Verb::leave: return begin_release(place, job);
    default: return begin_check(place, *job.request);
  }
}

void QueueRecipe::begin_acquire(Place& place, const Request& request) {
  place.sink = place.jobs.front().sink;
  place.lease = request.lease;
  place.queues = request.queues;
  place.fenced = request.wants_token();
  place.note = request.note;
  const bool is_new = place.stage == Stage::absent;
  if (is_new) {
    place.type = request.type;
    place.tokens = std::max(request.tokens, 1U);
    place.stage = Stage::creating;
    watch_own(place, false);
    place.operations += 2;  // `created` and `listed`
    end_at(place, later(now_, std::max(request.lease, stay_of(request))));
    return store_.create(place);
  }
  if (place.stage == Stage::unsure) return search(place);
  ++place.operations;
  const bool lists = place.stage == Stage::waiting && place.stamp != 0;
  lists ? store_.list(*place.line, &place) : store_.check(place, true);
}

void QueueRecipe::begin_release(Place& place, Job& job) {
  if (place.has_entry()) return remove(place);
  if (job.searched) return complete(place, Outcome::Kind::gone);
  job.searched = true;
  search(place);
}

void QueueRecipe::begin_check(Place& place, const Request& request) {
  if (place.stage == Stage::unsure) return search(place);
  if (place.stage != Stage::held) return complete(place, Outcome::Kind::gone);
  watch_own(place, request.watch);
  ++place.operations;
  place.converts = request.verb == Verb::downgrade && place.type == LockType::WRITE;
  place.converts ? store_.convert(place) : store_.check(place, request.verb != Verb::verify);
}

void QueueRecipe::checked(Place& place, const Refusal& refusal, bool exists, std::uint64_t stamp) {
  --place.operations;
  if (place.stamp == 0) place.stamp = stamp;
  if (place.looks_at_own) {
    looked_at_own(place, refusal, exists);
    if (place.has_entry()) end_at(place, place.ends);  // tick() may have dropped its timer
    run(place);
    return sweep(*place.line);
  }
  if (place.jobs.empty()) return;
  const Request& request = *place.jobs.front().request;
  if (!refusal.empty()) {
    refuse(place, refusal);
  } else if (!exists) {
    place.stage = Stage::absent;
    if (!acquires(place)) complete(place, Outcome::Kind::gone);
  } else if (!acquires(place)) {
    if (request.verb != Verb::verify)
      end_at(place, std::max(place.ends, later(now_, request.lease)));
    complete(place, Outcome::Kind::granted);
  } else if (place.stage != Stage::waiting) {
    grant(place);
  }
  run(place);
  sweep(*place.line);
}

void QueueRecipe::converted(Place& place, const Refusal& refusal, bool existed, Ticket ticket) {
  --place.operations;
  place.converts = false;
  if (place.jobs.empty()) return;
  if (!refusal.empty()) {
    refuse(place, refusal);
  } else if (!existed) {
    place.stage = Stage::absent;
    complete(place, Outcome::Kind::gone);
  } else {
    place.type = LockType::READ;
    place.ticket = std::move(ticket);
    if (place.own_watch > 0) store_.watch(*place.line, place.ticket.name);
    end_at(place, std::max(place.ends, later(now_, place.jobs.front().request->lease)));
    complete(place, Outcome::Kind::granted);
  }
  run(place);
  sweep(*place.line);
}

// A lease that an acquire repeats is never shortened. That of a place was for the waiting.
void QueueRecipe::grant(Place& place) {
  const bool again = place.stage == Stage::held;
  const Clock::time_point ends = later(now_, place.lease);
  place.stage = Stage::held;
  unwatch(place);
  end_at(place, again ? std::max(place.ends, ends) : ends);
  Outcome outcome;
  outcome.kind = Outcome::Kind::granted;
  outcome.token = token_of(place);
  complete(place, std::move(outcome));
}

void QueueRecipe::wait_in_line(Place& place) {
  Job& job = place.jobs.front();
  if (!waits_in_line(*job.request)) {
    job.is_busy = true;
    return remove(place);
  }
  end_at(place, later(now_, stay_of(*job.request)));
  busy(place);
}

void QueueRecipe::busy(Place& place) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::busy;
  outcome.place = place.stage == Stage::waiting ? place.stamp : 0;
  outcome.holder_is_foreign = place.behind_foreign;
  complete(place, std::move(outcome));
}

void QueueRecipe::refuse(Place& place, const Refusal& refusal) {
  if (place.jobs.empty()) return;
  Outcome outcome;
  outcome.kind = Outcome::Kind::refused;
  outcome.reason = refusal;
  complete(place, std::move(outcome));
}

void QueueRecipe::complete(Place& place, Outcome::Kind kind) {
  Outcome outcome;
  outcome.kind = kind;
  complete(place, std::move(outcome));
}

// Sets the timer of the place anew: tick() dropped it if the place ended during the job.
void QueueRecipe::complete(Place& place, Outcome&& outcome) {
  const Job job = place.jobs.front();
  place.jobs.pop_front();
  outbox_.complete(*job.request, *job.sink, std::move(outcome));
  if (place.has_entry()) end_at(place, place.ends);
}

// Each stage is what the server may have at worst: `link_resumed` reads the entries again.
void QueueRecipe::start_over() noexcept {
  for (auto& [key, line] : lines_) {
    line->reads = line->reads_again = false;
    for (const auto& each : line->places) {
      Place& place = *each;
      place.jobs.clear();
      place.operations = 0;
      place.looks_at_own = false;
      unwatch(place);
      if (place.stage == Stage::creating || place.converts) place.stage = Stage::unsure;
      if (place.stage == Stage::ordering) place.stage = Stage::waiting;
    }
  }
  sweep_all();
}

void QueueRecipe::restore_timers() {
  for (auto& [key, line] : lines_) {
    for (const auto& place : line->places) {
      if (place->has_entry()) end_at(*place, place->ends);
    }
  }
}

}  // namespace latchkey::inline v1::detail::zookeeper
