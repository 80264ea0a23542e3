// The file descriptors that one thread polls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <vector>

#include "core/thread_cache.hpp"

namespace latchkey::inline v1::detail::redis {

/// Descriptors for poll(2), and the connection that each of them belongs to. Connections may come
/// and go during the poll, so they are identified by number.
class PollSet {
 public:
  enum class Purpose : std::uint8_t {
    wake_up,  ///< the thread's eventfd
    io,       ///< the connection, or the attempt to make it
    route,    ///< an event may mean that another server is the right one by now
  };
  struct Source {
    std::uint64_t connection;  ///< its number; 0 for wake_up
    Purpose purpose;
  };

  /// One of the calling thread's spare sets, empty, for the lifetime of this object. Spare sets
  /// keep their memory. Works while the thread's other thread_locals are destroyed, since a hold
  /// may live in one of them.
  class Borrowed {
   public:
    /// Throws std::bad_alloc.
    Borrowed() : set_(ThreadCache<PollSet>::take()) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() { ThreadCache<PollSet>::give_back(set_); }

    [[nodiscard]] PollSet& set() const noexcept { return set_; }

   private:
    PollSet& set_;
  };

  /// Throws std::bad_alloc.
  void add(int fd, short events, Source source) {
    sources_.push_back(source);
    fds_.push_back({.fd = fd, .events = events, .revents = 0});
  }

  /// Polls until an event occurs or `timeout` is over. True: there are events.
  bool poll(std::chrono::nanoseconds timeout) noexcept {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
    const int ready = ::ppoll(fds_.data(), fds_.size(), &limit, nullptr);
    if (ready >= 0) return ready > 0;
    for (pollfd& each : fds_) each.revents = 0;
    return false;
  }

  /// How many descriptors there are. Each has a source, also after an `add` that threw.
  [[nodiscard]] std::size_t size() const noexcept { return fds_.size(); }
  /// The events that the last poll reported, as revents of poll(2).
  [[nodiscard]] short events(std::size_t index) const noexcept { return fds_[index].revents; }
  [[nodiscard]] std::span<const pollfd> descriptors() const noexcept { return fds_; }
  [[nodiscard]] Source source(std::size_t index) const noexcept { return sources_[index]; }

 private:
  friend class ThreadCache<PollSet>;

  void reset() noexcept {
    fds_.clear();
    sources_.clear();
  }

  PollSet* next = nullptr;  // links spare sets in the thread cache
  std::vector<pollfd> fds_;
  std::vector<Source> sources_;
};

}  // namespace latchkey::inline v1::detail::redis
