// Holds end with their process, and those who wait learn of it at once.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/latchkey.hpp>

#include "host/holder_process.hpp"
#include "host/host_fixture.hpp"
#include "support/fork.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Long enough for a machine that does other work, and far below a lease.
constexpr auto soon = 2s;

struct Heard final : Listener {
  void on_event(const Event& event) override {
    const std::lock_guard lock(mutex);
    if (event.kind == Event::Kind::abandoned) abandoned.push_back(event.key + ": " + event.text);
  }
  std::mutex mutex;
  std::vector<std::string> abandoned;
};

/// A key that a child holds by lock(), with the watchdog.
std::function<void(Locks&)> holds(LockType type) {
  return [type](Locks& locks) { locks.lock("k", type).lock(); };
}

class HostDeath : public ::testing::TestWithParam<LockType> {
 protected:
  TestSegment segment;
};

TEST_P(HostDeath, AWaiterHasTheLockAtOnce) {
  Heard heard;
  Locks locks = Locks::connect(segment.uri(), {.listener = &heard});
  HolderProcess holder(segment.uri(), holds(GetParam()));
  const LockType wanted = GetParam() == LockType::READ ? LockType::WRITE : GetParam();
  auto waiter = std::async(std::launch::async, [&] {
    Hold hold = locks.lock("k", wanted).acquire(10s, 30s);
    return std::pair(steady_clock::now(), hold.release());
  });
  ASSERT_EQ(waiter.wait_for(100ms), std::future_status::timeout);
  const auto killed = steady_clock::now();
  holder.kill();
  ASSERT_EQ(waiter.wait_for(soon), std::future_status::ready);
  const auto [granted, released] = waiter.get();
  EXPECT_LT(granted - killed, soon);
  EXPECT_TRUE(released);
  locks.close(1s);
  const std::lock_guard lock(heard.mutex);
  const LockType named = GetParam() == LockType::FAIR || GetParam() == LockType::FENCED
                             ? LockType::REENTRANT
                             : GetParam();
  EXPECT_EQ(heard.abandoned,
            std::vector{"k: abandoned by pid " + std::to_string(holder.pid()) +
                        ", which has ended while it held " + std::string(to_string(named))});
}

TEST_P(HostDeath, ACallThatDoesNotWaitHasTheLock) {
  Locks locks = Locks::connect(segment.uri());
  HolderProcess holder(segment.uri(), holds(GetParam()));
  const LockType wanted = GetParam() == LockType::READ ? LockType::WRITE : GetParam();
  EXPECT_FALSE(locks.lock("k", wanted).try_acquire().has_value());
  holder.end();
  EXPECT_TRUE(locks.lock("k", wanted).try_acquire().has_value());
}

INSTANTIATE_TEST_SUITE_P(Host, HostDeath,
                         ::testing::Values(LockType::REENTRANT, LockType::FAIR, LockType::READ,
                                           LockType::WRITE, LockType::FENCED),
                         [](const auto& one) { return std::string(to_string(one.param)); });

TEST(HostDeaths, AWaiterThatDiesInFrontKeepsNobodyWaiting) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  Hold held = locks.lock("k", LockType::FAIR).acquire(1s, 30s);
  HolderProcess front(segment.uri(), [&](Locks& own) {
    std::thread([own = std::move(own)]() mutable {
      Hold hold = own.lock("k", LockType::FAIR).acquire(60s, 30s);
    }).detach();
  });
  while (locks.inspect("k").queue.empty()) std::this_thread::yield();
  auto second = std::async(std::launch::async, [&] {
    Hold hold = locks.with_owner(Owner::make()).lock("k", LockType::FAIR).acquire(20s, 30s);
  });
  while (locks.inspect("k").queue.size() < 2) std::this_thread::yield();
  front.end();
  const auto released = steady_clock::now();
  held.release();
  ASSERT_EQ(second.wait_for(soon), std::future_status::ready);
  EXPECT_LT(steady_clock::now() - released, soon);
}

TEST(HostDeaths, PermitsComeBack) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  HolderProcess holder(segment.uri(), [](Locks& own) {
    Hold hold = own.semaphore("p", 2).acquire(1, 1s, 30s);
    static_cast<void>(new Hold(std::move(hold)));
  });
  EXPECT_EQ(locks.inspect("p").permits->available, 1);
  holder.end();
  EXPECT_EQ(locks.inspect("p").permits->available, 2);
}

TEST(HostDeaths, ATimeThatWasFixedOutlivesItsProcess) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  HolderProcess holder(segment.uri(), [](Locks& own) {
    (LOCKED("k", LockType::REENTRANT, 1s, 30s).in(own).hold_for(20s)([] {}))();
  });
  holder.end();
  EXPECT_FALSE(locks.lock("k").try_acquire().has_value());
  EXPECT_TRUE(locks.inspect("k").locked);
}

TEST(HostDeaths, ALockDelayBeginsWithTheDeath) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  HolderProcess holder(segment.uri(), [](Locks& own) {
    static_cast<void>(new Hold(own.lock("k").acquire(1s, Lease(30s).lock_delay(500ms))));
  });
  const auto killed = steady_clock::now();
  holder.end();
  EXPECT_FALSE(locks.lock("k").try_acquire().has_value());
  {
    const Hold hold = locks.lock("k").acquire(10s, 30s);
  }
  const auto waited = steady_clock::now() - killed;
  EXPECT_GT(waited, 490ms);
  EXPECT_LT(waited, 10s);
}

TEST(HostDeaths, AnExecEndsTheHold) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  std::array<int, 2> go{};
  ASSERT_EQ(::pipe(go.data()), 0);
  const pid_t child = fork_child();
  if (child == 0) {
    Locks own = Locks::connect(segment.uri());
    own.lock("k").lock();
    static_cast<void>(!::write(go[1], "h", 1));
    ::execlp("sleep", "sleep", "60", nullptr);
    ::_exit(1);
  }
  char held = 0;
  ASSERT_EQ(::read(go[0], &held, 1), 1);
  EXPECT_NO_THROW({ Hold hold = locks.lock("k").acquire(5s, 30s); });
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(go[0]);
  ::close(go[1]);
}

TEST(HostDeaths, AForkedChildHoldsNothingAndKeepsNothingAlive) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  pid_t grandchild = 0;
  std::array<int, 2> forked{};
  ASSERT_EQ(::pipe2(forked.data(), O_CLOEXEC), 0);
  HolderProcess holder(segment.uri(), [&](Locks& own) {
    own.lock("k").lock();
    const pid_t made = fork_child();
    if (made == 0) {
      for (;;) ::pause();
    }
    static_cast<void>(!::write(forked[1], &made, sizeof made));
  });
  ASSERT_EQ(::read(forked[0], &grandchild, sizeof grandchild), ssize_t{sizeof grandchild});
  EXPECT_FALSE(locks.lock("k").try_acquire().has_value());
  holder.end();
  EXPECT_NO_THROW({ Hold hold = locks.lock("k").acquire(5s, 30s); });
  ::kill(grandchild, SIGKILL);
  ::close(forked[0]);
  ::close(forked[1]);
}

TEST(HostDeaths, AStoppedProcessLosesItsLockWithItsLease) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  HolderProcess holder(segment.uri(), [](Locks& own) {
    static_cast<void>(new Hold(own.lock("k").acquire(1s, 300ms)));
  });
  holder.signal(SIGSTOP);
  const auto stopped = steady_clock::now();
  {
    Hold hold = locks.lock("k").acquire(5s, 30s);
  }
  EXPECT_GT(steady_clock::now() - stopped, 100ms);
  holder.signal(SIGCONT);
}

/// From now on the kernel kills the process if the calling thread makes a system call other than
/// exit_group. False: the kernel has no filters.
bool forbid_system_calls() {
  std::array<sock_filter, 4> program{
      sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_exit_group},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS}};
  sock_fprog filter{.len = program.size(), .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Whether each other thread of this process sleeps, as those of Locks do once they have begun.
bool other_threads_sleep() {
  const std::string self = std::to_string(::syscall(SYS_gettid));
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == self) continue;
    std::string line;
    std::getline(std::ifstream(task.path() / "stat"), line);
    if (!line.empty() && line.substr(line.rfind(')') + 2, 1) != "S") return false;
  }
  return true;
}

TEST(HostCost, AnUncontendedPairMakesNoSystemCall) {
  const TestSegment segment;
  const pid_t child = fork_child();
  if (child == 0) {
    Locks locks = Locks::connect(segment.uri());
    std::thread([&] {
      Lock lock = locks.lock("k");
      const auto pairs = [&](int count) {
        for (int pair = 0; pair < count; ++pair) {
          lock.lock();
          lock.unlock();
        }
      };
      do {
        pairs(10'000);
      } while (!other_threads_sleep());
      if (!forbid_system_calls()) ::_exit(99);
      pairs(100'000);
      ::syscall(SYS_exit_group, 1);  // the one call that is left: the thread cannot be joined
    }).join();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 99) GTEST_SKIP() << "the kernel has no seccomp";
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(HostDeaths, FilesOfTheDeadAreRemoved) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  EXPECT_EQ(segment.files(), 3);
  {
    HolderProcess holder(segment.uri(), holds(LockType::WRITE));
    EXPECT_EQ(segment.files(), 5);
  }
  static_cast<void>(locks.list("*"));
  EXPECT_EQ(segment.files(), 3);
}

}  // namespace
}  // namespace latchkey::tests
