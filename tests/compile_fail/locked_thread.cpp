// expect: the result of this body runs later
// A thread that goes on when the lock is free again.
#include <latchkey/latchkey.hpp>

#include <thread>

std::thread call() {
  return LOCKED("key") AROUND()->std::thread {
    return std::thread([] {});
  };
}
