// What a LOCKED call costs on the memory backend, beside the map of mutexes it replaces.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "side_by_side.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
namespace bench = latchkey::bench;

struct Account {
  int id;
};

/// What people write by hand: find or insert a timed mutex under one mutex, wait at most 3 s,
/// unlock, erase when unused.
class MutexMap {
 public:
  template <class Body>
  auto with(const std::string& key, Body&& body) {
    Entry& entry = enter(key);
    if (!entry.mutex.try_lock_for(3s)) {
      leave(key, entry);
      throw std::runtime_error("timeout");
    }
    struct Exit {
      MutexMap& map;
      const std::string& key;
      Entry& entry;
      ~Exit() {
        entry.mutex.unlock();
        map.leave(key, entry);
      }
    } exit{*this, key, entry};
    return body();
  }

 private:
  struct Entry {
    std::timed_mutex mutex;
    int users = 0;
  };

  Entry& enter(const std::string& key) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    ++entry.users;
    return entry;
  }
  void leave(const std::string& key, Entry& entry) {
    const std::lock_guard lock(mutex_);
    if (--entry.users == 0) entries_.erase(key);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
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

 private:
  MutexMap map_;
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

  fmt::print("{:<44} {:>11} {:>11}   {}\n", "", "latchkey", "mutex map", "ratio (spread)");
  bench::pin_to(0);
  bool held = bench::compare("LOCKED, 1 thread, uncontended", 200'000, 1.5, one(ours), one(peer));
  bench::unpin();
  held &= bench::compare("LOCKED, 8 threads, distinct keys", 400'000, 1.0, on_threads(8, ours),
                         on_threads(8, peer));
  return held && sum != 1 ? 0 : 1;
}
