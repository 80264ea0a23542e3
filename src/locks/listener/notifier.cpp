// The notifier's queue and thread.
#include "locks/listener/notifier.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "locks/event_kinds.hpp"
#include "locks/space/leak_intentionally.hpp"

namespace latchkey::detail {
namespace {

constexpr std::size_t most_events = 4096;

}  // namespace

struct Notifier::Queue {
  struct Item {
    Event event{};
    std::stop_source stop{std::nostopstate};
    bool droppable = false;
  };

  static std::array<std::stop_source, 64> no_stops() {
    return []<std::size_t... each>(std::index_sequence<each...>) {
      return std::array{(static_cast<void>(each), std::stop_source(std::nostopstate))...};
    }(std::make_index_sequence<64>());
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// The oldest. There is one.
  Item take() noexcept {
    if (items.empty()) {
      Item item;
      item.stop =
          std::exchange(*std::ranges::find_if(spare_stops, &std::stop_source::stop_possible),
                        std::stop_source(std::nostopstate));
      return item;
    }
    Item item = std::move(items.front());
    items.pop_front();
    return item;
  }

  /// How much is to be told yet.
  [[nodiscard]] std::size_t size() const noexcept {
    const auto spares = std::ranges::count_if(spare_stops, &std::stop_source::stop_possible);
    return items.size() + static_cast<std::size_t>(spares);
  }

  [[nodiscard]] const char* why_dropped() const noexcept {
    if (unmade == 0) return "the listener was too slow";
    if (dropped == 0) return "there was no memory";
    return "the listener was too slow, and there was no memory";
  }

  // In the place of the events that were not kept.
  void note_dropped() noexcept {
    if (dropped == 0 && unmade == 0) return;
    try {
      Item note;
      note.event.kind = Event::Kind::dropped;
      note.event.count = dropped + unmade;
      note.event.text = why_dropped();
      items.push_back(std::move(note));
      items.back().event.missed = std::exchange(missed, {});
      dropped = unmade = 0;
    } catch (const std::bad_alloc&) {
      return;  // with the next event, or before the end
    }
  }

  // Without memory for it the event is counted, and its place is not.
  void drop(const Event& event) noexcept {
    ++dropped;
    const auto same = [&](const Event::Missed& each) {
      return each.kind == event.kind && each.origin.site == event.origin.site &&
             each.origin.key_template == event.origin.key_template;
    };
    auto found = std::ranges::find_if(missed, same);
    try {
      if (found == missed.end()) found = missed.insert(found, {event.kind, event.origin, 0, 0, 0});
    } catch (const std::bad_alloc&) {
      return;
    }
    ++found->count;
    if (event.kind == Event::Kind::granted && event.count == 1) ++found->new_holds;
    if (event.contended) ++found->contended;
  }

  std::mutex mutex;
  std::condition_variable filled, emptied;
  bool telling = false;  // something that is no longer among the items
  std::uint64_t told = 0;
  std::size_t flushing = 0;  // threads inside flush
  std::deque<Item> items;
  std::array<std::stop_source, 64> spare_stops = no_stops();  // where no memory was left for items
  std::size_t droppable = 0;                                  // how many of them may be dropped
  std::uint64_t dropped = 0;                                  // the queue was full
  std::uint64_t unmade = 0;                                   // there was no memory
  std::vector<Event::Missed> missed;  // what was dropped; an entry for each place and kind
  bool started = false;
  bool ending = false;
  bool deaf = false;  // the listener may be gone, or wants no more
};

Notifier::Notifier(Listener* listener) : listener_(listener), queue_(std::make_shared<Queue>()) {}

Notifier::~Notifier() {
  static_cast<void>(has_thread());
  bool alone = false;  // what it has yet to do concerns nobody but the callbacks of stop tokens
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->ending = true;
    alone = listener_ == nullptr && (queue_->telling || !queue_->empty());
    // From within a listener: it outlives what it has let go of, and perhaps nothing after that.
    queue_->deaf = queue_->deaf || thread_.get_id() == std::this_thread::get_id();
  }
  queue_->filled.notify_all();
  if (!thread_.joinable()) return;
  if (alone || thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // the queue is kept alive by the thread itself
  } else {
    thread_.join();
  }
}

bool Notifier::post(Event&& event) noexcept {
  if (listener_ == nullptr) return true;
  const std::lock_guard lock(queue_->mutex);
  if (queue_->deaf) return true;
  const bool droppable = is_routine(event.kind);
  if (droppable && queue_->droppable >= most_events) {
    queue_->drop(event);
    return !lacks_thread_;
  }
  queue_->note_dropped();
  try {
    queue_->items.push_back({std::move(event), std::stop_source(std::nostopstate), droppable});
    if (droppable) ++queue_->droppable;
  } catch (const std::bad_alloc&) {
    ++queue_->unmade;
  }
  return start_once();
}

bool Notifier::post(std::stop_source&& stop) noexcept {
  const std::lock_guard lock(queue_->mutex);
  try {
    queue_->items.push_back({{}, std::move(stop), false});
  } catch (const std::bad_alloc&) {
    const auto spare =
        std::ranges::find_if_not(queue_->spare_stops, &std::stop_source::stop_possible);
    if (spare != queue_->spare_stops.end()) {
      *spare = std::move(stop);
    } else {
      ++queue_->unmade;  // its hold is lost all the same, and says so
    }
  }
  return start_once();
}

void Notifier::drop(std::size_t count) noexcept {
  if (listener_ == nullptr) return;
  const std::lock_guard lock(queue_->mutex);
  queue_->unmade += count;
  queue_->note_dropped();
  static_cast<void>(start_once());
}

bool Notifier::has_thread() noexcept {
  if (!lacks_thread_) return true;
  const std::lock_guard lock(queue_->mutex);
  return start_once();
}

void Notifier::finish(std::chrono::milliseconds patience) {
  static_cast<void>(has_thread());
  std::unique_lock lock(queue_->mutex);
  if (queue_->started && thread_.get_id() != std::this_thread::get_id()) {
    queue_->emptied.wait_for(lock, patience, [&] { return queue_->empty() && !queue_->telling; });
  }
  queue_->deaf = true;
}

bool Notifier::flush(std::chrono::milliseconds patience) {
  static_cast<void>(has_thread());
  std::unique_lock lock(queue_->mutex);
  if (queue_->empty() && !queue_->telling) return true;
  if (thread_.get_id() == std::this_thread::get_id()) return false;
  const std::uint64_t all = queue_->told + queue_->size() + (queue_->telling ? 1 : 0);
  ++queue_->flushing;
  const bool done = queue_->emptied.wait_for(lock, patience, [&] { return queue_->told >= all; });
  --queue_->flushing;
  return done;
}

bool Notifier::start_once() noexcept {
  if (!queue_->started) {
    try {
      thread_ = std::thread([queue = queue_, listener = listener_] { run(queue, listener); });
    } catch (const std::exception&) {  // no thread, or no memory for one
      lacks_thread_ = true;
      return false;
    }
    queue_->started = true;
    lacks_thread_ = false;
  }
  queue_->filled.notify_one();
  return true;
}

void Notifier::run(const std::shared_ptr<Queue>& queue, Listener* listener) noexcept {
  const auto tell = [&](const Event& event) {
    if (listener == nullptr) return;
    try {
      listener->on_event(event);
    } catch (...) {
      // A listener that throws harms itself only: there is nobody else to tell.
    }
  };
  std::unique_lock lock(queue->mutex);
  for (;;) {
    if (queue->items.empty()) queue->note_dropped();
    queue->filled.wait(lock, [&] { return !queue->empty() || queue->ending; });
    if (queue->empty()) queue->note_dropped();  // it ends
    if (queue->empty()) return;
    Queue::Item item = queue->take();
    const bool is_stop = item.stop.stop_possible();
    const bool deaf = queue->deaf;
    if (item.droppable) --queue->droppable;
    queue->telling = true;
    lock.unlock();
    if (is_stop) {
      item.stop.request_stop();
    } else if (!deaf) {
      tell(item.event);
    }
    lock.lock();
    queue->telling = false;
    ++queue->told;
    if (queue->empty() || queue->flushing > 0) queue->emptied.notify_all();
  }
}

void Notifier::lock_for_fork() noexcept { queue_->mutex.lock(); }

void Notifier::unlock_after_fork() noexcept { queue_->mutex.unlock(); }

void Notifier::forget_parent() noexcept {
  // The parent's thread does not exist here (but where its listener has forked: then this is it,
  // and it ends), and its sleep on the queue will never end: both are left behind, never destroyed.
  queue_->items.clear();
  lacks_thread_ = false;
  queue_->ending = true;
  queue_->mutex.unlock();
  leave_behind(new std::shared_ptr<Queue>(std::move(queue_)));
  leave_behind(new std::thread(std::move(thread_)));
  queue_ = std::make_shared<Queue>();
}

}  // namespace latchkey::detail
