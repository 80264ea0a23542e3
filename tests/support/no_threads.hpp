// A system that gives no threads.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <system_error>
#include <thread>

namespace latchkey::tests {

/// While it lives no thread can be made in this process: new ones would get a stack that no memory
/// has room for.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&usual_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 50);
    ::pthread_setattr_default_np(&huge);
    ::pthread_attr_destroy(&huge);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    ::pthread_setattr_default_np(&usual_);
    ::pthread_attr_destroy(&usual_);
  }

  /// False where threads are made all the same, as under a sanitizer.
  [[nodiscard]] static bool possible() {
    const NoThreads none;
    try {
      std::thread([] {}).join();
    } catch (const std::system_error&) {
      return true;
    }
    return false;
  }

 private:
  pthread_attr_t usual_{};
};

}  // namespace latchkey::tests
