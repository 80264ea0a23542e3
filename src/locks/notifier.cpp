// The notifier's queue and thread.
#include "locks/notifier.hpp"

#include <system_error>
#include <utility>

#include "locks/left_behind.hpp"

namespace latchkey::detail {
namespace {

constexpr std::size_t most_events = 4096;

bool must_be_kept(Event::Kind kind) noexcept {
  return kind == Event::Kind::lost || kind == Event::Kind::abandoned ||
         kind == Event::Kind::unlock_error || kind == Event::Kind::hidden_error ||
         kind == Event::Kind::warning || kind == Event::Kind::order;
}

}  // namespace

struct Notifier::Queue {
  struct Item {
    Event event{};
    std::stop_source stop{std::nostopstate};
    bool droppable = false;
  };

  // In the place of the events that were not kept.
  void note_dropped() {
    if (dropped == 0) return;
    Item& note = items.emplace_back();
    note.event.kind = Event::Kind::dropped;
    note.event.count = std::exchange(dropped, 0);
    note.event.text = "the listener was too slow";
  }

  std::mutex mutex;
  std::condition_variable filled, emptied;
  bool telling = false;  // something that is no longer among the items
  std::uint64_t told = 0;
  std::size_t flushing = 0;  // threads inside flush
  std::deque<Item> items;
  std::size_t droppable = 0;  // how many of them may be dropped
  std::uint64_t dropped = 0;
  bool started = false;
  bool ending = false;
  bool deaf = false;  // the listener may be gone, or wants no more
};

Notifier::Notifier(Listener* listener) : listener_(listener), queue_(std::make_shared<Queue>()) {}

Notifier::~Notifier() {
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->ending = true;
    // From within a listener: it outlives what it has let go of, and perhaps nothing after that.
    queue_->deaf = queue_->deaf || thread_.get_id() == std::this_thread::get_id();
  }
  queue_->filled.notify_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // the queue is kept alive by the thread itself
  } else {
    thread_.join();
  }
}

void Notifier::post(Event&& event) {
  if (listener_ == nullptr) return;
  const std::lock_guard lock(queue_->mutex);
  if (queue_->deaf) return;
  const bool droppable = !must_be_kept(event.kind);
  if (droppable && queue_->droppable >= most_events) {
    ++queue_->dropped;
    return;
  }
  queue_->note_dropped();
  queue_->items.push_back({std::move(event), std::stop_source(std::nostopstate), droppable});
  if (droppable) ++queue_->droppable;
  start_once();
  queue_->filled.notify_one();
}

void Notifier::post(std::stop_source&& stop) {
  const std::lock_guard lock(queue_->mutex);
  queue_->items.push_back({{}, std::move(stop), false});
  start_once();
  queue_->filled.notify_one();
}

void Notifier::finish(std::chrono::milliseconds patience) {
  std::unique_lock lock(queue_->mutex);
  if (queue_->started && thread_.get_id() != std::this_thread::get_id()) {
    queue_->emptied.wait_for(lock, patience,
                             [&] { return queue_->items.empty() && !queue_->telling; });
  }
  queue_->deaf = true;
}

bool Notifier::flush(std::chrono::milliseconds patience) {
  std::unique_lock lock(queue_->mutex);
  if (queue_->items.empty() && !queue_->telling) return true;
  if (thread_.get_id() == std::this_thread::get_id()) return false;
  const std::uint64_t all = queue_->told + queue_->items.size() + (queue_->telling ? 1 : 0);
  ++queue_->flushing;
  const bool done = queue_->emptied.wait_for(lock, patience, [&] { return queue_->told >= all; });
  --queue_->flushing;
  return done;
}

void Notifier::start_once() {
  if (queue_->started) return;
  try {
    thread_ = std::thread([queue = queue_, listener = listener_] { run(queue, listener); });
    queue_->started = true;
  } catch (const std::system_error&) {
    // No thread to be had now: what is queued waits for the next post.
  }
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
    queue->filled.wait(lock, [&] { return !queue->items.empty() || queue->ending; });
    if (queue->items.empty()) return;
    Queue::Item item = std::move(queue->items.front());
    queue->items.pop_front();
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
    if (queue->items.empty() || queue->flushing > 0) queue->emptied.notify_all();
  }
}

void Notifier::lock_for_fork() noexcept { queue_->mutex.lock(); }

void Notifier::unlock_after_fork() noexcept { queue_->mutex.unlock(); }

void Notifier::forget_parent() noexcept {
  // The parent's thread does not exist here (but where its listener has forked: then this is it,
  // and it ends), and its sleep on the queue will never end: both are left behind, never destroyed.
  queue_->items.clear();
  queue_->ending = true;
  queue_->mutex.unlock();
  leave_behind(new std::shared_ptr<Queue>(std::move(queue_)));
  leave_behind(new std::thread(std::move(thread_)));
  queue_ = std::make_shared<Queue>();
}

}  // namespace latchkey::detail
