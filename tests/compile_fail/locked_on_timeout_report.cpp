// expect: on_timeout takes raise, skip, skip_with\(value\), fallback\(function\) or
// run_unlocked_dangerously A strategy of on_lost.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

void call() { LOCKED("key").on_timeout(latchkey::strategy::report) AROUND(){}; }
