// Records events and answers queries about them.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/testing/recorder.hpp>

#include <algorithm>
#include <iterator>
#include <ostream>

namespace latchkey::inline v1::testing {

std::ostream& operator<<(std::ostream& out, const Taken& taken) {
  return out << to_string(taken.type) << ' ' << taken.key;
}

void Recorder::on_event(const Event& event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
  changed_.notify_all();
}

std::vector<Event> Recorder::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

std::vector<Event> Recorder::of(Event::Kind kind) const {
  const std::lock_guard lock(mutex_);
  std::vector<Event> found;
  std::ranges::copy_if(events_, std::back_inserter(found),
                       [&](const Event& event) { return event.kind == kind; });
  return found;
}

std::size_t Recorder::count(Event::Kind kind) const {
  const std::lock_guard lock(mutex_);
  return counted(kind);
}

std::vector<Taken> Recorder::taken() const {
  std::vector<Taken> all;
  for (const Event& event : of(Event::Kind::granted)) all.push_back({event.key, event.type});
  return all;
}

bool Recorder::await(Event::Kind kind, std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return counted(kind) >= count; });
}

void Recorder::clear() {
  const std::lock_guard lock(mutex_);
  events_.clear();
}

std::size_t Recorder::counted(Event::Kind kind) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(events_, [&](const Event& event) { return event.kind == kind; }));
}

}  // namespace latchkey::inline v1::testing
