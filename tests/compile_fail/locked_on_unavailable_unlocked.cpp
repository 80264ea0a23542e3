// expect: on_unavailable takes raise, skip, skip_with\(value\) or fallback\(function\)
// No lock and no idea is no way to run.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

void call() {
  LOCKED("key").on_unavailable(latchkey::strategy::run_unlocked_dangerously) AROUND(){};
}
