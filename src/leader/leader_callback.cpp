// The thread of a Leader that runs its callback, and what it reports.
// SPDX-License-Identifier: BSL-1.0
#include <exception>
#include <mutex>
#include <new>
#include <string>

#include "leader/leader_loop.hpp"

namespace latchkey::inline v1::detail {

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
