// expect: unused variable .guard.
// The same with something in it that has a destructor.
#include <latchkey/latchkey.hpp>

#include <stop_token>

int number = 0;

void call(std::stop_token token) {
  const auto guard = LOCKED("key").cancel_with(token);
  ++number;
}
