// The requests of a SimpleBackend that wait for a thread.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/simple_backend.hpp>

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "core/at_fork.hpp"
#include "core/key_table.hpp"
#include "core/parked_threads.hpp"
#include "core/thread_annotations.hpp"

namespace latchkey::inline v1 {

struct SimpleBackend::Job {
  Request* request;
  Sink* sink;
};

/// The requests of one key. A lane is in the list of ready lanes while it has jobs and none of them
/// runs.
struct SimpleBackend::Lane {
  detail::InlineString key;
  std::size_t hash = 0;
  Lane* next = nullptr;
  std::deque<Job> jobs;
  bool running = false;
  bool in_line = false;  ///< it is in the list of ready lanes
  Lane* next_ready = nullptr;

  void reset() noexcept {}  // a lane is empty when it is erased
};

/// Thread-safe; locked during a fork.
class SimpleBackend::Queue final : private detail::ForkParticipant {
 public:
  Queue() { register_fork_participant(detail::ForkLevel::backend, *this); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { unregister_fork_participant(*this); }

  /// Adds all requests or, if it throws std::bad_alloc, none.
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
    wake_one();
  }

  /// Returns a lane whose first job the caller must run now; null: there is no work.
  Lane* take(Job& job) {
    const std::lock_guard lock(mutex_);
    return take_locked(job);
  }

  /// From now on the loop is told of work, at once if there is some.
  void add(Loop& loop);
  /// Work that is left is passed on to another loop or driver.
  void remove(Loop& loop);
  /// Like take(), but for a loop, which is told again if more work is left.
  Lane* take(Job& job, Loop& loop);

  /// Like take(), but if there is no work it adds the driver to the list of parked threads.
  Lane* take_or_wait(Job& job, detail::ParkedThreads::Waiter& driver) {
    const std::lock_guard lock(mutex_);
    Lane* const lane = take_locked(job);
    if (lane == nullptr) parked_.add(driver);
    return lane;
  }

  /// Removes the driver from the list of parked threads. A driver that was woken just now may
  /// return to its caller without a job, so remaining work wakes another one.
  void leave(detail::ParkedThreads::Waiter& driver) {
    const std::lock_guard lock(mutex_);
    parked_.remove(driver);
    if (first_ready_ != nullptr) wake_one();
  }

  /// The job that `take` returned has run.
  void done(Lane& lane) {
    const std::lock_guard lock(mutex_);
    lane.running = false;
    if (lane.jobs.empty()) {
      lanes_.erase(lane);
    } else {
      line_up(lane);
      wake_one();
    }
  }

  /// For a forked child: drops requests, drivers and loops.
  void drop_all() noexcept {
    const std::lock_guard lock(mutex_);
    lanes_.for_each([&](Lane& lane) {
      lane.jobs.clear();
      lane.running = lane.in_line = false;
      lanes_.erase(lane);
    });
    first_ready_ = last_ready_ = nullptr;
    parked_.clear();
    loops_.clear();
  }

 private:
  /// The lane of the text in `Request::key`. That of a list is its pattern.
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
    if (first_ready_ != nullptr) wake_one();
    return lane;
  }

  void wake_one() noexcept;

  void prepare() noexcept override LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void parent() noexcept override LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  void child() noexcept override LATCHKEY_FORK_HANDLER { mutex_.unlock(); }

  std::mutex mutex_;
  detail::KeyTable<Lane> lanes_;  // all below: guarded by mutex_
  Lane* first_ready_ = nullptr;
  Lane* last_ready_ = nullptr;
  detail::ParkedThreads parked_;
  std::vector<Loop*> loops_;  ///< that have joined
};

}  // namespace latchkey::inline v1
