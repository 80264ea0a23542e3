// expect: this body is noexcept, but its lock may throw .*add .no_throw\(\)
// A body that promises what its lock does not.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

void call() noexcept { LOCKED("key").on_timeout(latchkey::strategy::skip) AROUND() noexcept {}; }
