// expect: the result of this body runs later, when the lock is free again
// A view computes when it is read.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <ranges>
#include <vector>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

auto call(const std::vector<int>& numbers) {
  return LOCKED("key") AROUND(numbers) {
    return numbers | std::views::transform([](int number) { return number + 1; });
  };
}
