// Memory that processes share, and processes that share it.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace latchkey::soak {

/// One object in memory that the children of this process see too.
template <class T>
class Shared {
 public:
  Shared() {
    void* const place =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    object_ = new (place) T;
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

/// Children of this process; those that still run are killed with this object.
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const pid_t id : ids_) ::kill(id, SIGKILL);
    for (const pid_t id : ids_) ::waitpid(id, nullptr, 0);
  }

  /// `work` runs in a child, which ends with it.
  template <class Work>
  void start(Work&& work) {
    const pid_t id = ::fork();
    if (id == -1) throw std::runtime_error("no process for a child");
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

  /// Waits for all of them; true where each ended well.
  bool join() {
    bool well = true;
    for (const pid_t id : std::exchange(ids_, {})) {
      int status = 0;
      well &= ::waitpid(id, &status, 0) == id && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return well;
  }

 private:
  std::vector<pid_t> ids_;
};

}  // namespace latchkey::soak
