// The cost of a call under an annotation, compared with the same call under LOCKED, on the memory
// backend: by the word in the body, and by the proxy.
#include <latchkey/annotations.hpp>

#include <chrono>

#include "side_by_side.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
namespace bench = latchkey::bench;

struct Account {
  int id;
};

class Service {
 public:
  int by_macro(const Account& account) {
    return LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account) {
      return account.id + 1;
    };
  }
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s)]] int by_word(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id + 1;
  }
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s)]] int by_proxy(
      const Account& account) {
    return account.id + 1;
  }
};

}  // namespace

int main() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  latchkey::Annotated<Service> service;
  volatile int sum = 0;
  const auto calls = [&](auto call) {
    return [&sum, call](int operations) {
      for (int each = 0; each < operations; ++each) sum = sum + call(Account{each % 1'000});
    };
  };
  const auto macro =
      calls([&](const Account& account) { return service.bare().by_macro(account); });
  bench::print_header("LOCKED");
  bool fits = bench::compare(
      "LOCK_ANNOTATED", 1'000'000, 1.0,
      calls([&](const Account& account) { return service.bare().by_word(account); }), macro);
  fits &= bench::compare("Annotated", 1'000'000, 1.0,
                         calls([&](const Account& account) { return service->by_proxy(account); }),
                         macro);
  return fits ? 0 : 1;
}
