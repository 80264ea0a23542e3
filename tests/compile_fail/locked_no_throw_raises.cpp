// expect: .no_throw\(\) and on_timeout\(raise\) or on_unavailable\(raise\) contradict each other
// Two promises that exclude each other.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

void call() { LOCKED("key").no_throw().on_timeout(latchkey::strategy::raise) AROUND(){}; }
