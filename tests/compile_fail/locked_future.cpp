// expect: the result of this body runs later, when the lock is free again
// A future: its work runs without the lock.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <future>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

std::future<int> call() {
  return LOCKED("key") AROUND() {
    return std::async([] { return 1; });
  };
}
