// expect: `around` returns what `proceed\(\)` returns, exactly: declare it decltype\(auto\)
// An aspect that makes a copy of a reference.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Copies : latchkey::Aspect {
  template <class Proceed>
  auto around(latchkey::JoinPoint&, Proceed&& proceed) const {
    return proceed();
  }
};

int& call(int& slot) {
  return Copies() AROUND(slot)->int& { return slot; };
}
