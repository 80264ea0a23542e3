// expect: the result of this body runs later, when the lock is free again
// A coroutine: its body runs without the lock.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <coroutine>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

Task call() {
  return LOCKED("key") AROUND()->Task { co_return; };
}
