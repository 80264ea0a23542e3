// The cost of a LOCKED call on the memory backend, compared with the map of mutexes that it
// replaces.
//
// Both render the key as text, wait at most 3 s and leave nothing behind for a key that nobody
// uses. LOCKED also counts re-entry by owner, ends the lease after 30 s and says so (Hold::lost, a
// stop token), reports to a listener, applies policies, and lists and force-releases its locks. The
// map does none of this.
//
// The last rows compare a LOCKED with several keys with nested LOCKED calls, one for each key.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <vector>

#include "mutex_map.hpp"
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
  int ours(const Account& account) {
    return LOCKED("account:{account.id}", LockType::REENTRANT, 3s, 30s) AROUND(account) {
      return account.id + 1;
    };
  }
  int peer(const Account& account) {
    return map_.with(fmt::format("account:{}", account.id), [&] { return account.id + 1; });
  }
  int both(const Account& from, const Account& to) {
    return LOCKED(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 3s, 30s)
        AROUND(from, to) {
      return from.id + to.id;
    };
  }
  int nested(const Account& from, const Account& to) {
    return LOCKED("account:{from.id}", LockType::WRITE, 3s, 30s) AROUND(from, to) {
      return LOCKED("account:{to.id}", LockType::WRITE, 3s, 30s) AROUND(from, to) {
        return from.id + to.id;
      };
    };
  }

 private:
  bench::MutexMap map_;
};

template <class Call>
auto on_threads(int threads, Call call) {
  return [threads, call](int operations) {
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([=] {
        const int first = thread * 1'000;
        for (int i = 0; i < operations / threads; ++i) call(Account{first + i % 100});
      });
    }
    for (std::thread& thread : running) thread.join();
  };
}

}  // namespace

int main() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  Service service;
  int sum = 0;
  const auto one = [&](auto call) {
    return [&sum, call](int operations) {
      for (int i = 0; i < operations; ++i) sum += call(Account{i % 1'000});
    };
  };
  const auto ours = [&](const Account& account) { return service.ours(account); };
  const auto peer = [&](const Account& account) { return service.peer(account); };

  bench::print_header("mutex map");
  bench::pin_to(0);
  bool held = bench::compare("LOCKED, 1 thread, uncontended", 200'000, 1.2, one(ours), one(peer));
  bench::unpin();
  held &= bench::compare("LOCKED, 8 threads, distinct keys", 400'000, 1.0, on_threads(8, ours),
                         on_threads(8, peer));

  const auto two = [&](auto call) {
    return [&sum, call](int operations) {
      for (int i = 0; i < operations; ++i)
        sum += call(Account{i % 1'000}, Account{i % 1'000 + 500});
    };
  };
  const auto both = [&](const Account& a, const Account& b) { return service.both(a, b); };
  const auto nested = [&](const Account& a, const Account& b) { return service.nested(a, b); };
  fmt::print("\n");
  bench::print_header("nested");
  bench::pin_to(0);
  held &= bench::compare("KEYS of 2, 1 thread, uncontended", 200'000, 1.3, two(both), two(nested));
  bench::unpin();
  return held && sum != 1 ? 0 : 1;
}
