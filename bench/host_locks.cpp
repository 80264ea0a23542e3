// Locks between the processes of one machine: host: beside a robust mutex in shared memory, flock,
// boost::interprocess' named mutex, and Redis on a Unix socket. All in one run, round by round.
// Prints the table of docs/stores/host.md.
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <boost/interprocess/sync/named_mutex.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "support/fork.hpp"
#include "support/servers/redis_server.hpp"

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;
namespace ipc = boost::interprocess;

constexpr int rounds = 5;
constexpr int processes = 4;
constexpr auto window = 500ms;
const std::string name = "latchkey-bench-" + std::to_string(::getpid());

/// Locks, works and unlocks; made anew in each process.
struct Pair {
  std::function<void(int rounds_of_work)> run;
};
struct Contender {
  std::string what;
  std::function<Pair()> make;
  std::vector<double> pair_ns{}, hot{}, hot_with_work{}, least_share{};
};

struct Shared {
  pthread_mutex_t robust;
  std::atomic<bool> go, stop;
  std::array<std::atomic<std::uint64_t>, processes> grants;
};

/// About a microsecond of work under the lock.
void work(int rounds_of_work) {
  for (int done = 0; done < rounds_of_work; ++done) asm volatile("" ::: "memory");
}
int rounds_in_a_microsecond() {
  constexpr int many = 10'000'000;
  const auto begun = Steady::now();
  work(many);
  const auto took = std::chrono::duration<double, std::micro>(Steady::now() - begun);
  return std::max(1, static_cast<int>(many / took.count()));
}

Shared& make_shared_memory() {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& shared = *::new (memory) Shared{};
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&shared.robust, &attributes);
  return shared;
}

Pair latchkey_pair(const std::string& uri) {
  const auto locks = std::make_shared<latchkey::Locks>(latchkey::Locks::connect(uri));
  const auto lock = std::make_shared<latchkey::Lock>(locks->lock("hot"));
  return {[locks, lock](int rounds_of_work) {
    lock->lock();
    work(rounds_of_work);
    lock->unlock();
  }};
}

std::vector<Contender> contenders(Shared& shared, const std::string& redis) {
  return {
      {"PTHREAD_PROCESS_SHARED robust mutex",
       [&shared] {
         return Pair{[&shared](int rounds_of_work) {
           ::pthread_mutex_lock(&shared.robust);
           work(rounds_of_work);
           ::pthread_mutex_unlock(&shared.robust);
         }};
       }},
      {"flock",
       [] {
         const int file = ::open(("/dev/shm/" + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
         return Pair{[file](int rounds_of_work) {
           ::flock(file, LOCK_EX);
           work(rounds_of_work);
           ::flock(file, LOCK_UN);
         }};
       }},
      {"boost::interprocess::named_mutex",
       [] {
         const auto mutex = std::make_shared<ipc::named_mutex>(ipc::open_or_create, name.c_str());
         return Pair{[mutex](int rounds_of_work) {
           mutex->lock();
           work(rounds_of_work);
           mutex->unlock();
         }};
       }},
      {"latchkey host:", [] { return latchkey_pair("host:" + name); }},
      {"latchkey memory: (one process)", [] { return latchkey_pair("memory:" + name); }},
      {"latchkey, Redis on a Unix socket", [redis] { return latchkey_pair(redis); }},
  };
}

double pair_ns(const Pair& pair) {
  for (int warm = 0; warm < 100; ++warm) pair.run(0);
  std::uint64_t count = 0;
  const auto begun = Steady::now();
  auto now = begun;
  for (; now - begun < 200ms; now = Steady::now()) {
    for (int each = 0; each < 100; ++each) pair.run(0);
    count += 100;
  }
  return std::chrono::duration<double, std::nano>(now - begun).count() / static_cast<double>(count);
}

struct Hot {
  double per_second;   ///< of all processes together, on one lock
  double least_share;  ///< what the last of them got; 1: as much as the average
};

Hot hot(const Contender& contender, Shared& shared, int rounds_of_work) {
  shared.go = shared.stop = false;
  std::vector<pid_t> children;
  for (int index = 0; index < processes; ++index) {
    const pid_t child = latchkey::tests::fork_child();
    if (child == 0) {
      {
        const Pair pair = contender.make();
        while (!shared.go) std::this_thread::yield();
        std::uint64_t grants = 0;
        for (; !shared.stop; ++grants) pair.run(rounds_of_work);
        shared.grants[static_cast<std::size_t>(index)] = grants;
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  std::this_thread::sleep_for(200ms);
  shared.go = true;
  std::this_thread::sleep_for(window);
  shared.stop = true;
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  double sum = 0, least = 1e18;
  for (const auto& each : shared.grants) {
    sum += static_cast<double>(each);
    least = std::min(least, static_cast<double>(each));
  }
  return {sum / std::chrono::duration<double>(window).count(), least * processes / sum};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main() {
  Shared& shared = make_shared_memory();
  const int microsecond = rounds_in_a_microsecond();
  latchkey::tests::RedisServer redis;
  std::vector<Contender> all = contenders(shared, redis.unix_uri());
  for (int round = 0; round < rounds; ++round) {
    for (Contender& each : all) {
      // In a child: this process never has a thread, so that it can fork.
      std::array<int, 2> result{};
      if (::pipe(result.data()) != 0) return 1;
      const pid_t child = latchkey::tests::fork_child();
      if (child == 0) {
        const double time = pair_ns(each.make());
        static_cast<void>(!::write(result[1], &time, sizeof time));
        ::_exit(0);
      }
      double time = 0;
      if (::read(result[0], &time, sizeof time) != sizeof time) return 1;
      ::waitpid(child, nullptr, 0);
      ::close(result[0]);
      ::close(result[1]);
      each.pair_ns.push_back(time);
      const bool is_shared = each.what.find("memory:") == std::string::npos;
      if (!is_shared) continue;
      each.hot.push_back(hot(each, shared, 0).per_second);
      const Hot with_work = hot(each, shared, microsecond);
      each.hot_with_work.push_back(with_work.per_second);
      each.least_share.push_back(with_work.least_share);
    }
  }
  const double robust = median(all.front().pair_ns);
  fmt::print(
      "| | uncontended pair | of a robust mutex | hot key, empty section | 1 µs | least |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  for (const Contender& each : all) {
    const double pair = median(each.pair_ns);
    fmt::print("| {} | {:.0f} ns | {:.1f} × |", each.what, pair, pair / robust);
    if (each.hot.empty()) {
      fmt::print(" | | |\n");
    } else {
      fmt::print(" {:.0f} /s | {:.0f} /s | {:.2f} |\n", median(each.hot),
                 median(each.hot_with_work), median(each.least_share));
    }
  }
  ipc::named_mutex::remove(name.c_str());
  ::unlink(("/dev/shm/" + name).c_str());
  ::unlink(("/dev/shm/latchkey-" + std::to_string(::geteuid()) + "-" + name).c_str());
}
