// EventQueue: the events that a slow listener still gets, and those that are only counted.
#include "locks/listener/event_queue.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace latchkey::detail {
namespace {

Event event_of(Event::Kind kind) {
  Event event;
  event.kind = kind;
  return event;
}

void fill_up(EventQueue& queue) {
  for (std::size_t count = 0; count < EventQueue::most_events; ++count) {
    EXPECT_TRUE(queue.push(event_of(Event::Kind::granted)));
  }
}

TEST(EventQueue, TakesEventsAndStopsInTheirOrder) {
  EventQueue queue;
  std::stop_source stop;
  EXPECT_TRUE(queue.push(event_of(Event::Kind::granted)));
  queue.push(std::stop_source(stop));
  EXPECT_TRUE(queue.push(event_of(Event::Kind::lost)));
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.take().event.kind, Event::Kind::granted);
  EXPECT_TRUE(queue.take().is_stop());
  EXPECT_EQ(queue.take().event.kind, Event::Kind::lost);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, DropsRoutineEventsWhenFullAndKeepsLosses) {
  EventQueue queue;
  fill_up(queue);
  EXPECT_FALSE(queue.push(event_of(Event::Kind::granted)));
  EXPECT_TRUE(queue.push(event_of(Event::Kind::lost)));
  EXPECT_EQ(queue.size(), EventQueue::most_events + 2) << "the loss, and a note of what is missing";
}

TEST(EventQueue, ReportsTheNumberOfDroppedEventsInTheirPlace) {
  EventQueue queue;
  fill_up(queue);
  EXPECT_FALSE(queue.push(event_of(Event::Kind::granted)));
  EXPECT_FALSE(queue.push(event_of(Event::Kind::granted)));
  queue.count_unmade(3);
  queue.note_dropped();
  for (std::size_t count = 0; count < EventQueue::most_events; ++count) {
    EXPECT_EQ(queue.take().event.kind, Event::Kind::granted);
  }
  const Event note = queue.take().event;
  EXPECT_EQ(note.kind, Event::Kind::dropped);
  EXPECT_EQ(note.count, 5U);
  EXPECT_EQ(note.text, "the listener was too slow, and there was no memory");
  ASSERT_EQ(note.missed.size(), 1U);
  EXPECT_EQ(note.missed.front().count, 2U);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, HasRoomAgainOnceAnEventIsTaken) {
  EventQueue queue;
  fill_up(queue);
  static_cast<void>(queue.take());
  EXPECT_TRUE(queue.push(event_of(Event::Kind::granted)));
}

}  // namespace
}  // namespace latchkey::detail
