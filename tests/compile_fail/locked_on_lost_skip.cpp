// expect: on_lost takes raise or report: the body has run already
// A strategy of on_timeout.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

void call() { LOCKED("key").on_lost(latchkey::strategy::skip) AROUND(){}; }
