// What one thread polls for.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include "core/thread_cache.hpp"

namespace latchkey::detail::redis {

/// Descriptors, and of which connection each is. Connections come and go meanwhile, so they are
/// known by number.
class PollSet {
 public:
  struct Source {
    std::uint64_t wire;  ///< 0: the bell
    bool watch;          ///< not the connection, but what may say that it leads nowhere
  };

  /// An empty one of the calling thread's spares, until this goes: its memory is used again. Also
  /// while the thread's other locals are destroyed, for a hold may live in one of them.
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

  /// Until something happened, or `length` is over. True: something did.
  bool wait(std::chrono::nanoseconds length) noexcept {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(length);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (length - seconds).count()};
    const int happened = ::ppoll(fds_.data(), fds_.size(), &limit, nullptr);
    if (happened >= 0) return happened > 0;
    for (pollfd& each : fds_) each.revents = 0;
    return false;
  }

  [[nodiscard]] std::size_t size() const noexcept {
    return fds_.size();
  }  // never more than sources
  [[nodiscard]] short happened(std::size_t index) const noexcept { return fds_[index].revents; }
  [[nodiscard]] Source source(std::size_t index) const noexcept { return sources_[index]; }

 private:
  friend class ThreadCache<PollSet>;

  void reset() noexcept {
    fds_.clear();
    sources_.clear();
  }

  PollSet* next = nullptr;  // the magazine's
  std::vector<pollfd> fds_;
  std::vector<Source> sources_;
};

}  // namespace latchkey::detail::redis
