// expect: unused variable .guard.
// The guard variable has something in it with a destructor.
#include <latchkey/latchkey.hpp>

#include <stop_token>

int number = 0;

void call(std::stop_token token) {
  const auto guard = LOCKED("key").cancel_with(token);
  ++number;
}
