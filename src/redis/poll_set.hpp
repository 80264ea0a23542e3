// What one thread polls for.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

namespace latchkey::detail::redis {

/// Descriptors, and of which connection each is. Each thread has one, so that its memory is used
/// again; connections come and go meanwhile, so they are known by number.
class PollSet {
 public:
  struct Source {
    std::uint64_t wire;  ///< 0: the bell
    bool watch;          ///< not the connection, but what may say that it leads nowhere
  };

  [[nodiscard]] static PollSet& mine() {
    static thread_local PollSet set;
    set.fds_.clear();
    set.sources_.clear();
    return set;
  }

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
  std::vector<pollfd> fds_;
  std::vector<Source> sources_;
};

}  // namespace latchkey::detail::redis
