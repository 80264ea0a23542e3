// Memory that processes share, and child processes that share it.
#pragma once

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "soak/settings.hpp"
#include "support/fork.hpp"

namespace latchkey::soak {

/// One object in memory that this process shares with its children.
template <class T>
class Shared {
 public:
  Shared() {
    void* const mapping =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    object_ = new (mapping) T;
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    object_->~T();
    ::munmap(object_, sizeof(T));
  }

  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }

 private:
  T* object_;
};

/// Child processes. The destructor kills those that still run.
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const pid_t id : ids_) ::kill(id, SIGKILL);
    for (const pid_t id : ids_) ::waitpid(id, nullptr, 0);
  }

  /// Runs `work` in a new child.
  template <class Work>
  void start(Work&& work) {
    const pid_t id = tests::fork_child();
    if (id != 0) {
      ids_.push_back(id);
      return;
    }
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in a child: %s\n", error.what());
      std::_Exit(1);
    }
    std::_Exit(0);
  }

  [[nodiscard]] const std::vector<pid_t>& ids() const noexcept { return ids_; }

  /// Waits for all children, and kills those that still run after `limit`. True if each child ended
  /// with status 0.
  bool join(std::chrono::seconds limit = length_of_join()) {
    const auto end = std::chrono::steady_clock::now() + limit;
    bool all_succeeded = true;
    for (const pid_t id : std::exchange(ids_, {})) all_succeeded &= succeeds(id, end);
    return all_succeeded;
  }

 private:
  /// Ten minutes more than the soak lasts.
  static std::chrono::seconds length_of_join() {
    using std::chrono::ceil, std::chrono::seconds;
    return ceil<seconds>(length_of_soak()) + std::chrono::minutes(10);
  }

  static bool succeeds(pid_t id, std::chrono::steady_clock::time_point end) {
    int status = 0;
    pid_t ended = ::waitpid(id, &status, WNOHANG);
    for (; ended == 0; ended = ::waitpid(id, &status, WNOHANG)) {
      if (std::chrono::steady_clock::now() >= end) ::kill(id, SIGKILL);
      ::poll(nullptr, 0, 5);
    }
    return ended == id && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  std::vector<pid_t> ids_;
};

}  // namespace latchkey::soak
