// The queue: who is first, and what the store tells of it.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/recipe/queue_recipe.hpp"

#include <algorithm>
#include <utility>

#include "backend/verbs.hpp"

namespace latchkey::inline v1::detail::zookeeper {

Line* QueueRecipe::find(std::string_view key) noexcept {
  const auto at = lines_.find(key);
  return at == lines_.end() ? nullptr : at->second.get();
}

Place& QueueRecipe::place_of(std::string_view key, const HoldId& id) {
  Line* line = find(key);
  if (line == nullptr) {
    auto made = std::make_unique<Line>();
    made->key = key;
    line = lines_.emplace(std::string(key), std::move(made)).first->second.get();
  }
  for (const auto& place : line->places) {
    if (place->id == id) return *place;
  }
  auto made = std::make_unique<Place>();
  made->line = line;
  made->id = id;
  return *line->places.emplace_back(std::move(made));
}

void QueueRecipe::sweep(Line& line) {
  std::erase_if(line.places, [&](const std::unique_ptr<Place>& place) {
    if (!place->is_idle()) return false;
    unwatch(*place);
    watch_own(*place, false);
    timers_.erase({place->ends, place.get()});
    return true;
  });
  if (line.places.empty() && !line.reads) lines_.erase(lines_.find(line.key));
}

void QueueRecipe::sweep_all() {
  for (auto at = lines_.begin(); at != lines_.end();) {
    Line& line = *(at++)->second;  // the sweep may erase it
    sweep(line);
  }
}

void QueueRecipe::end_at(Place& place, Clock::time_point when) {
  timers_.erase({place.ends, &place});
  place.ends = when;
  if (when != Clock::never()) timers_.emplace(when, &place);
}

// A place whose job is under way is looked at when that ends.
void QueueRecipe::tick() {
  while (due() <= now_) {
    Place& place = *timers_.begin()->second;
    timers_.erase(timers_.begin());
    if (place.has_entry() && place.jobs.empty() && place.operations == 0) remove(place);
  }
}

void QueueRecipe::remove(Place& place) {
  place.stage = Stage::removing;
  unwatch(place);
  ++place.operations;
  store_.remove(place);
}

void QueueRecipe::search(Place& place) {
  place.stage = Stage::unsure;
  ++place.operations;
  store_.list(*place.line, &place);
}

void QueueRecipe::created(Place& place, const Refusal& refusal, Ticket ticket,
                          std::uint64_t stamp) {
  --place.operations;
  if (!refusal.empty()) {
    --place.operations;  // it is not listed
    place.stage = Stage::absent;
    refuse(place, refusal);
    run(place);
    return sweep(*place.line);
  }
  place.stage = Stage::ordering;
  place.ticket = std::move(ticket);
  place.stamp = stamp;
}

void QueueRecipe::listed(Line& line, Place* asker, const Refusal& refusal,
                         std::vector<Ticket> tickets) {
  if (asker != nullptr) {
    --asker->operations;
  } else {
    line.reads = false;
  }
  if (refusal.empty()) {
    for (const auto& place : line.places) settle(*place, tickets);
  } else if (asker != nullptr && !asker->jobs.empty()) {
    if (asker->stage == Stage::ordering) asker->stage = Stage::waiting;
    if (asker->stage == Stage::unsure) asker->stage = Stage::absent;
    refuse(*asker, refusal);
  }
  for (std::size_t index = 0; index < line.places.size(); ++index) run(*line.places[index]);
  if (std::exchange(line.reads_again, false)) read_again(line);
  sweep(line);
}

// `tickets` are newer than everything that was answered before.
void QueueRecipe::settle(Place& place, const std::vector<Ticket>& tickets) {
  if (place.stage != Stage::unsure) return evaluate(place, tickets);
  const auto own = std::ranges::find(tickets, store_.owner_of(place.id), &Ticket::owner);
  if (own == tickets.end()) {
    place.stage = Stage::absent;
    return;
  }
  place.ticket = *own;
  unwatch(place);
  if (place.ticket.kind == Ticket::Kind::read) place.type = LockType::READ;
  const bool held = std::exchange(place.converts, false);
  place.stage = held ? Stage::held : Stage::waiting;
  if (!held) place.stamp = 0;
  end_at(place, place.ends);
  if (place.jobs.empty()) evaluate(place, tickets);
}

void QueueRecipe::evaluate(Place& place, const std::vector<Ticket>& tickets) {
  if (!place.has_entry() && place.stage != Stage::ordering) return;
  const auto own = std::ranges::find(tickets, place.ticket.name, &Ticket::name);
  if (own == tickets.end()) return vanish(place);
  if (place.stage == Stage::held || place.stage == Stage::first) return;
  const bool is_asked = acquires(place) && place.stamp != 0;
  const Predecessor before = predecessor(tickets, *own);
  if (before.ticket == nullptr) return is_asked ? grant(place) : become_first(place);
  place.behind_foreign = before.ticket->foreign;
  place.stage = Stage::waiting;
  if (is_asked) wait_in_line(place);
  if (place.stage != Stage::waiting || place.watched == before.ticket->name) return;
  unwatch(place);
  place.watched = before.ticket->name;
  place.watched_is_last = before.is_last;
  ++watches_;
  store_.watch(*place.line, place.watched);
}

// A grant names the place that its owner was told of. Otherwise the owner acquires again.
void QueueRecipe::become_first(Place& place) {
  unwatch(place);
  place.stage = Stage::first;
  if (!place.jobs.empty() || place.sink == nullptr) return;
  const bool fair = place.type == LockType::FAIR;
  if (fair && !place.listens) return;
  if ((!fair && !place.queues) || place.stamp == 0) {
    return outbox_.notify(*place.sink, Notification::Kind::released, place.line->key, place.id);
  }
  place.stage = Stage::held;
  const std::chrono::milliseconds most = fair ? fair_grant_lease : grant_lease;
  end_at(place, later(now_, std::min(place.lease, most)));
  outbox_.notify_granted(*place.sink, place.line->key, place.id, place.stamp, token_of(place));
}

void QueueRecipe::read_again(Line& line) {
  if (line.reads) {
    line.reads_again = true;
    return;
  }
  line.reads = true;
  store_.list(line, nullptr);
}

void QueueRecipe::removed(Place& place, const Refusal& refusal, bool existed) {
  --place.operations;
  place.stage = refusal.empty() ? Stage::absent : Stage::unsure;
  if (!place.jobs.empty()) {
    const Job& job = place.jobs.front();
    if (!refusal.empty()) {
      refuse(place, refusal);
    } else if (is_release(job.request->verb)) {
      complete(place, existed ? Outcome::Kind::granted : Outcome::Kind::gone);
    } else if (job.is_busy) {
      busy(place);
    }
  }
  if (place.stage == Stage::unsure && place.jobs.empty()) place.stage = Stage::absent;
  run(place);
  sweep(*place.line);
}

void QueueRecipe::link_lost(const std::string& why) {
  for (auto& [key, line] : lines_) {
    line->reads = line->reads_again = false;
    for (const auto& each : line->places) {
      Place& place = *each;
      bool first = true;
      for (const Job& job : std::exchange(place.jobs, {})) {
        const bool began = std::exchange(first, false) && place.operations > 0;
        outbox_.complete_unknown(*job.request, *job.sink, why, !began);
      }
      place.operations = 0;
      place.looks_at_own = false;
      unwatch(place);
      if (place.stage == Stage::creating) place.stage = Stage::unsure;
      if (place.stage == Stage::ordering) place.stage = Stage::waiting;
      if (place.converts) place.stage = Stage::unsure;
      if (place.has_entry()) end_at(place, place.ends);
    }
  }
  sweep_all();
}

void QueueRecipe::link_resumed() {
  for (auto& [key, line] : lines_) {
    bool reads = false;
    for (const auto& place : line->places) {
      if (place->stage == Stage::removing && place->operations == 0) remove(*place);
      reads = reads || place->has_entry() || place->stage == Stage::unsure;
    }
    if (reads) read_again(*line);
  }
}

void QueueRecipe::session_lost() {
  for (auto& [key, line] : lines_) {
    for (const auto& place : line->places) {
      const Stage stage = std::exchange(place->stage, Stage::absent);
      const bool held = stage == Stage::held || (stage == Stage::unsure && place->converts);
      place->converts = false;
      end_at(*place, Clock::never());
      if (!held || place->sink == nullptr) continue;
      outbox_.notify(*place->sink, Notification::Kind::gone, key, place->id);
    }
  }
  sweep_all();
}

void QueueRecipe::forget() noexcept {
  timers_.clear();
  lines_.clear();
  watches_ = own_watches_ = 0;
}

}  // namespace latchkey::inline v1::detail::zookeeper
