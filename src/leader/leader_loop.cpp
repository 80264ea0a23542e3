// The loop of a Leader: campaign, lead, pause; and the thread that runs its callback.
// tidy: long-file because the two threads share all state of one class.
// SPDX-License-Identifier: BSL-1.0
#include "leader/leader_loop.hpp"

#include <unistd.h>

#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/owner.hpp>

#include "leader/leader_term.hpp"

namespace latchkey::inline v1::detail {

LeaderLoop::LeaderLoop(const Locks& locks, std::string key, Leader::Callback callback,
                       const LeaderOptions& options)
    : locks_(locks.with_owner(Owner::make())),
      key_(std::move(key)),
      callback_(std::move(callback)),
      lease_(locks.options().watchdog),
      stop_before_(options.stop_before.value()),
      longest_pause_(options.longest_pause),
      after_return_(options.after_return),
      process_(::getpid()),
      pauses_(options.pause, options.longest_pause,
              static_cast<std::uint64_t>(locks.clock().now().time_since_epoch().count()) ^
                  static_cast<std::uint64_t>(process_)) {}

void LeaderLoop::start(AsyncObserver* observer) {
  observer_ = observer;
  try {
    callback_thread_ = std::thread([this] { run_callbacks(); });
    supervisor_ = std::thread([this] { supervise(); });
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(),
                            "the two threads of the Leader of '" + key_ +
                                "' cannot be created; raise the limit on threads (ulimit -u, the "
                                "cgroup's pids.max) or use fewer");
  }
}

void LeaderLoop::request_end() noexcept {
  destroyed_.request_stop();
  const ScopedLock lock(mutex_);
  changed_.notify_all();
}

void LeaderLoop::throw_if_ended_early() const {
  const ScopedLock lock(mutex_);
  if (state_ == LeaderState::ended && !closed_) return;
  LockSite site{.key = key_,
                .type = LockType::FENCED,
                .backend = locks_.describe(),
                .prefix = locks_.options().prefix};
  if (closed_) throw Closed(std::move(site));
  throw Cancelled(std::move(site));
}

// The observer that the campaigning thread told of its end may destroy the loop on that thread.
void LeaderLoop::stop() noexcept {
  request_end();
  if (supervisor_.get_id() == std::this_thread::get_id()) {
    supervisor_.detach();
  } else if (supervisor_.joinable()) {
    supervisor_.join();
  }
  {
    const ScopedLock lock(mutex_);
    work_ = Work::quitting;
    assigned_.notify_all();
  }
  if (callback_thread_.joinable()) callback_thread_.join();
}

bool LeaderLoop::is_inherited() const noexcept { return ::getpid() != process_; }

LeaderHealth LeaderLoop::brief_health_locked() const noexcept {
  LeaderHealth health;
  health.state = state_;
  health.is_leader = hold_ && !hold_->lost();
  health.term = term_;
  if (health.is_leader) health.since = elected_at_;
  return health;
}

LeaderHealth LeaderLoop::brief_health() const noexcept {
  if (is_inherited()) return {.state = LeaderState::ended};
  const ScopedLock lock(mutex_);
  return brief_health_locked();
}

LeaderHealth LeaderLoop::health() const {
  if (is_inherited()) return {.state = LeaderState::ended};
  const ScopedLock lock(mutex_);
  LeaderHealth health = brief_health_locked();
  health.trouble = trouble_;
  return health;
}

bool LeaderLoop::resign() noexcept {
  if (is_inherited()) return false;
  const ScopedLock lock(mutex_);
  if (work_ != Work::running) return false;
  resigns_ = true;
  changed_.notify_all();
  return true;
}

void LeaderLoop::supervise() noexcept {
  while (!is_over()) {
    campaign();
    lead();
    pause();
  }
  if (observer_ != nullptr) observer_->ended();
}

bool LeaderLoop::is_over() const {
  const ScopedLock lock(mutex_);
  return state_ == LeaderState::ended || destroyed_.stop_requested();
}

void LeaderLoop::campaign() noexcept {
  try {
    Hold hold = locks_.acquire(key_, {.type = LockType::FENCED,
                                      .wait = forever,
                                      .lease = watchdog,
                                      .cancel = destroyed_.get_token()});
    // A lock that another holder handed on has a short lease, or a used one, until it is renewed.
    if (hold.remaining() < lease_ * 2 / 3 && !hold.extend(lease_)) {
      return fail("the lock was lost before the term began");
    }
    begin_term(std::move(hold));
  } catch (const Cancelled&) {
    return;  // the Leader is being destroyed
  } catch (const Closed& error) {
    fail(error.what());
    const ScopedLock lock(mutex_);
    state_ = LeaderState::ended;
    closed_ = true;
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void LeaderLoop::begin_term(Hold&& hold) {
  const std::uint64_t term = hold.fencing_token().value_or(0);
  if (!is_new_term(term, brief_health().term)) {
    throw std::runtime_error("the backend granted a term that is not larger than the last one");
  }
  std::stop_source stop;
  std::stop_token lost = hold.stop_token();
  std::stop_token revoked = hold.revocation_token();
  publish(Event::Kind::elected, term, {});
  const ScopedLock lock(mutex_);
  hold_ = std::move(hold);
  lost_ = std::move(lost);
  revoked_ = std::move(revoked);
  stop_ = std::move(stop);
  term_ = term;
  elected_at_ = locks_.clock().now();
  resigns_ = failed_ = false;
  trouble_.clear();
  state_ = LeaderState::leading;
  work_ = Work::running;
  assigned_.notify_all();
}

void LeaderLoop::lead() noexcept {
  std::stop_token lost, revoked;
  {
    const ScopedLock lock(mutex_);
    if (!hold_) return;
    lost = lost_;
    revoked = revoked_;
  }
  {
    const auto wake = [this] {
      const ScopedLock lock(mutex_);
      changed_.notify_all();
    };
    const std::stop_callback wake_if_lost(lost, wake);
    const std::stop_callback wake_if_revoked(revoked, wake);
    const ScopedLock lock(mutex_);
    watch_until_callback_ends();
  }
  end_term();
}

void LeaderLoop::watch_until_callback_ends() noexcept {
  while (work_ == Work::running) {
    if (state_ == LeaderState::stopping) {
      wait_until(Clock::never());
    } else if (const auto reason = reason_to_stop()) {
      request_stop_of_callback(*reason);
    } else {
      wait_until(locks_.clock().now() + hold_->remaining() - stop_before_);
    }
  }
}

std::optional<std::string_view> LeaderLoop::reason_to_stop() const noexcept {
  return latchkey::detail::reason_to_stop(
      {.lost = hold_->lost(),
       .left = hold_->remaining(),
       .stop_before = stop_before_,
       .asked = resigns_ || destroyed_.stop_requested() || revoked_.stop_requested()});
}

void LeaderLoop::request_stop_of_callback(std::string_view reason) noexcept {
  state_ = LeaderState::stopping;
  std::stop_source stop = stop_;
  const std::uint64_t term = term_;
  const ScopedUnlock unlock(mutex_);
  stop.request_stop();  // callbacks of the user's
  if (!reason.empty()) publish(Event::Kind::deposed, term, reason);
}

void LeaderLoop::end_term() noexcept {
  std::optional<Hold> hold;
  bool failed = false, ends = false;
  std::uint64_t term = 0;
  Clock::duration led{};
  {
    const ScopedLock lock(mutex_);
    hold = std::exchange(hold_, std::nullopt);
    failed = failed_;
    term = term_;
    led = locks_.clock().now() - elected_at_;
    ends = !failed && state_ == LeaderState::leading && after_return_ == AfterReturn::end;
    const bool was_long = led >= longest_pause_;
    if (was_long || !failed) pause_ = pauses_.after_success();
    if (failed) pause_ = pauses_.after_failure();
  }
  // Published before the release, so that the next election is the later event.
  publish(Event::Kind::term_ended, term, {}, led);
  hold.reset();
  const ScopedLock lock(mutex_);
  work_ = Work::idle;
  state_ = ends ? LeaderState::ended : LeaderState::pausing;
}

void LeaderLoop::fail(const char* why) noexcept {
  pause_ = pauses_.after_failure();
  const ScopedLock lock(mutex_);
  state_ = LeaderState::pausing;
  try {
    trouble_ = why;
  } catch (const std::exception&) {
    trouble_ = "no memory";  // short enough to need none
  }
}

void LeaderLoop::pause() noexcept {
  const Clock::time_point end = later(locks_.clock().now(), pause_);
  const ScopedLock lock(mutex_);
  while (state_ == LeaderState::pausing && !destroyed_.stop_requested()) {
    if (locks_.clock().now() >= end) {
      state_ = LeaderState::campaigning;
    } else {
      wait_until(end);
    }
  }
}

void LeaderLoop::wait_until(Clock::time_point time) {
  std::unique_lock lock(mutex_.native(), std::adopt_lock);
  locks_.clock().wait_until(lock, changed_, time);
  static_cast<void>(lock.release());
}

void LeaderLoop::run_callbacks() noexcept {
  const ScopedLock lock(mutex_);
  while (work_ != Work::quitting) {
    if (work_ == Work::running) {
      const std::stop_token stop = stop_.get_token();
      const std::uint64_t term = term_;
      {
        const ScopedUnlock unlock(mutex_);
        call(stop, term);
      }
      work_ = Work::ended;
      changed_.notify_all();
    } else {
      std::unique_lock waiting(mutex_.native(), std::adopt_lock);
      assigned_.wait(waiting);
      static_cast<void>(waiting.release());
    }
  }
}

void LeaderLoop::call(const std::stop_token& stop, std::uint64_t term) noexcept {
  try {
    callback_(stop, term);
  } catch (const std::exception& error) {
    note_callback_failed(error.what());
  } catch (...) {
    note_callback_failed("something that is not a std::exception");
  }
}

void LeaderLoop::note_callback_failed(const char* what) noexcept {
  std::uint64_t term = 0;
  {
    const ScopedLock lock(mutex_);
    failed_ = true;
    term = term_;
  }
  try {
    const std::string text = "the callback of the Leader threw: " + std::string(what);
    publish(Event::Kind::hidden_error, term, text);
    const ScopedLock lock(mutex_);
    trouble_ = text;
  } catch (const std::bad_alloc&) {
    return;  // the pause follows nevertheless
  }
}

void LeaderLoop::publish(Event::Kind kind, std::uint64_t term, std::string_view text,
                         Clock::duration led) const noexcept {
  try {
    Event event;
    event.kind = kind;
    event.type = LockType::FENCED;
    event.key = key_;
    event.fencing_token = term;
    event.text = text;
    event.held = led;
    locks_.publish(event);
  } catch (const std::exception&) {
    return;  // no memory for the event
  }
}

}  // namespace latchkey::inline v1::detail
