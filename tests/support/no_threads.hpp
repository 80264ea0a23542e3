// Makes the creation of threads fail.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <system_error>
#include <thread>

namespace latchkey::tests {

/// While this object exists, no thread can be created in this process: the default stack size is
/// larger than any memory.
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

  /// False if threads can be created nevertheless, as under a sanitizer.
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
