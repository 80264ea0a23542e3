// A backend made of three blocking functions: queues per key, driven by the waiting threads.
#include <latchkey/simple_backend.hpp>

#include <deque>
#include <mutex>
#include <utility>

#include <latchkey/error.hpp>

#include "core/at_fork.hpp"
#include "core/key_table.hpp"
#include "core/parked_threads.hpp"

namespace latchkey {
namespace {

Outcome make(Outcome::Kind kind, std::string reason = {}) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.reason = std::move(reason);
  return outcome;
}

Outcome not_offered(const Request& request) {
  return make(Outcome::Kind::refused, std::string(to_string(request.verb)) + " is not offered");
}

}  // namespace

/// Thread-safe; locked during a fork.
class SimpleBackend::Queue final : private detail::ForkParticipant {
 public:
  struct Job {
    Request* request;
    Sink* sink;
  };

  /// The requests of one key. A lane is in the list of ready lanes while it has jobs and none of
  /// them runs.
  struct Lane {
    detail::InlineString key;
    std::size_t hash = 0;
    Lane* next = nullptr;
    std::deque<Job> jobs;
    bool running = false;
    bool in_line = false;
    Lane* next_ready = nullptr;

    void reset() noexcept {}  // a lane is empty when it is erased
  };

  Queue() { register_fork_participant(detail::ForkLevel::backend, *this); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { unregister_fork_participant(*this); }

  /// Adds all of them or, if it throws std::bad_alloc, none.
  void add(std::span<Request* const> requests, Sink& sink) {
    const std::lock_guard lock(mutex_);
    std::size_t added = 0;
    try {
      for (; added < requests.size(); ++added) {
        lane_for(*requests[added]).jobs.push_back({requests[added], &sink});
      }
    } catch (...) {
      while (added > 0) lane_for(*requests[--added]).jobs.pop_back();
      lanes_.for_each([&](Lane& lane) {
        if (lane.jobs.empty() && !lane.running) lanes_.erase(lane);
      });
      throw;
    }
    for (const Request* request : requests) line_up(lane_for(*request));
    parked_.wake_one();
  }

  /// Returns a lane whose first job the caller must run now; null: there is no work.
  Lane* take(Job& job) {
    const std::lock_guard lock(mutex_);
    return take_locked(job);
  }

  /// Like take(), but if there is no work it adds the driver to the list of parked threads.
  Lane* take_or_wait(Job& job, detail::ParkedThreads::Waiter& driver) {
    const std::lock_guard lock(mutex_);
    Lane* const lane = take_locked(job);
    if (lane == nullptr) parked_.add(driver);
    return lane;
  }

  /// Removes the driver from that list. It may have been woken just now and still return to its
  /// caller, so remaining work is passed to another driver.
  void leave(detail::ParkedThreads::Waiter& driver) {
    const std::lock_guard lock(mutex_);
    parked_.remove(driver);
    if (first_ready_ != nullptr) parked_.wake_one();
  }

  void done(Lane& lane) {
    const std::lock_guard lock(mutex_);
    lane.running = false;
    if (lane.jobs.empty()) {
      lanes_.erase(lane);
    } else {
      line_up(lane);
      parked_.wake_one();
    }
  }

  void drop_all() noexcept {
    const std::lock_guard lock(mutex_);
    lanes_.for_each([&](Lane& lane) {
      lane.jobs.clear();
      lane.running = lane.in_line = false;
      lanes_.erase(lane);
    });
    first_ready_ = last_ready_ = nullptr;
    parked_.clear();
  }

 private:
  /// Requests without a key (list) or with several (acquire_all) share the lane of that text.
  Lane& lane_for(const Request& request) {
    const std::size_t hash = detail::hash_key(request.key);
    Lane* const lane = lanes_.find(request.key, hash);
    return lane != nullptr ? *lane : lanes_.insert(request.key, hash);
  }

  void line_up(Lane& lane) noexcept {
    if (lane.running || std::exchange(lane.in_line, true)) return;
    lane.next_ready = nullptr;
    (last_ready_ == nullptr ? first_ready_ : last_ready_->next_ready) = &lane;
    last_ready_ = &lane;
  }

  Lane* take_locked(Job& job) {
    Lane* const lane = first_ready_;
    if (lane == nullptr) return nullptr;
    first_ready_ = lane->next_ready;
    if (first_ready_ == nullptr) last_ready_ = nullptr;
    job = lane->jobs.front();
    lane->jobs.pop_front();
    lane->in_line = false;
    lane->running = true;
    if (first_ready_ != nullptr) parked_.wake_one();
    return lane;
  }

  void prepare() noexcept override { mutex_.lock(); }
  void parent() noexcept override { mutex_.unlock(); }
  void child() noexcept override { mutex_.unlock(); }

  std::mutex mutex_;
  detail::KeyTable<Lane> lanes_;  // all below: guarded by mutex_
  Lane* first_ready_ = nullptr;
  Lane* last_ready_ = nullptr;
  detail::ParkedThreads parked_;
};

SimpleBackend::SimpleBackend(Clock& clock) : clock_(clock), queue_(std::make_unique<Queue>()) {}
SimpleBackend::~SimpleBackend() = default;

void SimpleBackend::submit(std::span<Request* const> requests, Sink& sink) {
  queue_->add(requests, sink);
}

void SimpleBackend::drive(Parker& parker, Clock::time_point until) {
  Queue::Job job{};
  detail::ParkedThreads::Waiter me{parker};
  Queue::Lane* lane = queue_->take_or_wait(job, me);
  if (lane == nullptr) {
    // No work until a request is submitted or another driver finishes with a key: both wake this
    // thread.
    const bool unparked = parker.park_until(clock_, until);
    queue_->leave(me);
    if (unparked) lane = queue_->take(job);
    if (lane == nullptr) return;
  }
  Outcome outcome = attempt(*job.request);
  // The lane continues first: the sink may take long.
  queue_->done(*lane);
  job.sink->completed(*job.request, std::move(outcome));
}

void SimpleBackend::forget_parent() noexcept {
  queue_->drop_all();
  forked();
}

Outcome SimpleBackend::attempt(const Request& request) noexcept {
  try {
    return call(request);
  } catch (const Refused& refusal) {
    return make(Outcome::Kind::refused, refusal.what());
  } catch (const BackendRefused& refusal) {
    return make(Outcome::Kind::refused, refusal.what());
  } catch (const std::exception& error) {
    return make(Outcome::Kind::unknown, error.what());
  } catch (...) {
    return make(Outcome::Kind::unknown, "the backend threw something that is no std::exception");
  }
}

Outcome SimpleBackend::call(const Request& request) {
  switch (request.verb) {
    case Verb::acquire: return acquire(request);
    case Verb::renew: return renew(request);
    case Verb::verify: return verify(request);
    case Verb::downgrade: return downgrade(request);
    case Verb::release: return release(request);
    case Verb::leave: return leave(request);
    case Verb::subscribe:
    case Verb::unsubscribe: return granted();  // no notification will follow: waiters poll
    case Verb::inspect: return inspect(request);
    case Verb::list: {
      const bool awaited = request.part != nullptr && request.part->awaited;
      return awaited ? not_offered(request) : list(request);
    }
    case Verb::force_release: return force_release(request);
    case Verb::expire:
    case Verb::acquire_all: break;
  }
  return not_offered(request);
}

Outcome SimpleBackend::verify(const Request&) { return granted(); }
Outcome SimpleBackend::leave(const Request& request) { return release(request); }
Outcome SimpleBackend::downgrade(const Request& request) { return not_offered(request); }
Outcome SimpleBackend::inspect(const Request& request) { return not_offered(request); }
Outcome SimpleBackend::list(const Request& request) { return not_offered(request); }
Outcome SimpleBackend::force_release(const Request& request) { return not_offered(request); }

Outcome SimpleBackend::granted(std::uint64_t fencing_token) {
  Outcome outcome = make(Outcome::Kind::granted);
  outcome.token = fencing_token;
  return outcome;
}

Outcome SimpleBackend::granted_if(bool held) { return held ? granted() : gone(); }

Outcome SimpleBackend::busy(std::optional<std::chrono::milliseconds> retry_after,
                            std::string holder) {
  Outcome outcome = make(Outcome::Kind::busy);
  outcome.holder = std::move(holder);
  outcome.retry_after = retry_after;
  return outcome;
}

Outcome SimpleBackend::gone() { return make(Outcome::Kind::gone); }

}  // namespace latchkey
