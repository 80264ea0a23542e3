// expect: the result of this body runs later
// A future in a struct.
#include <latchkey/latchkey.hpp>

#include <future>

struct Started {
  int id;
  std::future<int> result;
};

Started call() {
  return LOCKED("key") AROUND()->Started { return {1, {}}; };
}
