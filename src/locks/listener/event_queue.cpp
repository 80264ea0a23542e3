// Keeping what must be delivered when the listener is slow or memory is short.
// SPDX-License-Identifier: BSL-1.0
#include "locks/listener/event_queue.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "locks/event_kinds.hpp"

namespace latchkey::inline v1::detail {

std::array<std::stop_source, EventQueue::spares> EventQueue::no_stops() {
  return []<std::size_t... each>(std::index_sequence<each...>) {
    return std::array{(static_cast<void>(each), std::stop_source(std::nostopstate))...};
  }(std::make_index_sequence<spares>());
}

std::size_t EventQueue::size() const noexcept {
  const auto stops = std::ranges::count_if(spare_stops_, &std::stop_source::stop_possible);
  return items_.size() + static_cast<std::size_t>(stops);
}

bool EventQueue::push(Event&& event) noexcept {
  const bool droppable = is_routine(event.kind);
  if (droppable && droppable_ >= most_events) {
    drop(event);
    return false;
  }
  note_dropped();
  try {
    items_.push_back({std::move(event), std::stop_source(std::nostopstate), droppable});
    if (droppable) ++droppable_;
  } catch (const std::bad_alloc&) {
    ++unmade_;
  }
  return true;
}

void EventQueue::push(std::stop_source&& stop) noexcept {
  try {
    items_.push_back({{}, std::move(stop), false});
  } catch (const std::bad_alloc&) {
    const auto spare = std::ranges::find_if_not(spare_stops_, &std::stop_source::stop_possible);
    if (spare != spare_stops_.end()) {
      *spare = std::move(stop);
    } else {
      ++unmade_;  // Hold::lost says that the hold is lost all the same
    }
  }
}

// Without memory for an entry of `missed_` the event is counted, and its place is not.
void EventQueue::drop(const Event& event) noexcept {
  ++dropped_;
  const auto same = [&](const Event::Missed& each) {
    return each.kind == event.kind && each.origin.site == event.origin.site &&
           each.origin.key_template == event.origin.key_template;
  };
  auto found = std::ranges::find_if(missed_, same);
  try {
    if (found == missed_.end()) found = missed_.insert(found, {event.kind, event.origin});
  } catch (const std::bad_alloc&) {
    return;
  }
  ++found->count;
  if (event.kind == Event::Kind::granted && event.count == 1) ++found->new_holds;
  if (event.contended) ++found->contended;
  if (event.cached) ++found->cached;
  found->permits += event.permits;
}

void EventQueue::note_dropped() noexcept {
  if (dropped_ == 0 && unmade_ == 0) return;
  try {
    Item note;
    note.event.kind = Event::Kind::dropped;
    note.event.count = dropped_ + unmade_;
    note.event.text = why_dropped();
    items_.push_back(std::move(note));
    items_.back().event.missed = std::exchange(missed_, {});
    dropped_ = unmade_ = 0;
  } catch (const std::bad_alloc&) {
    return;  // with the next event, or before the end
  }
}

const char* EventQueue::why_dropped() const noexcept {
  if (unmade_ == 0) return "the listener was too slow";
  if (dropped_ == 0) return "there was no memory";
  return "the listener was too slow, and there was no memory";
}

EventQueue::Item EventQueue::take() noexcept {
  Item item;
  if (items_.empty()) {
    item.stop = std::exchange(*std::ranges::find_if(spare_stops_, &std::stop_source::stop_possible),
                              std::stop_source(std::nostopstate));
    return item;
  }
  item = std::move(items_.front());
  items_.pop_front();
  if (item.droppable) --droppable_;
  return item;
}

}  // namespace latchkey::inline v1::detail
