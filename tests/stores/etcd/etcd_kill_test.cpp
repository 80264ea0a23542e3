// Tests of killed processes and a killed server: locks become free, and holds end in time.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"
#include "support/fork.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

Options short_leases() {
  Options options;
  options.watchdog = 1500ms;
  options.command_timeout = 500ms;
  return options;
}

TEST(EtcdKill, TheLockOfAKilledProcessIsFreeWithinItsSession) {
  const EtcdServer server;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = fork_child();
  if (child == 0) {
    Locks own = etcd_locks(server.uri("session=2s"), short_leases());
    const Hold hold = own.lock("key").acquire(5s);
    if (::write(pipe[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  Locks locks = etcd_locks(server.uri());
  EXPECT_FALSE(locks.lock("key").try_acquire(0s, 5s));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto killed = Steady::now();
  EXPECT_TRUE(locks.lock("key").try_acquire(10s, 5s));
  EXPECT_LT(Steady::now() - killed, 3s);
  EXPECT_TRUE(eventually([&] { return server.keys("").empty(); })) << "keys are left";
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(EtcdKill, AHoldEndsInTimeIfTheServerStaysAway) {
  EtcdServer server;
  Locks locks = etcd_locks(server.uri("session=20s"), short_leases());
  Hold hold = locks.lock("key").acquire(1s);
  const auto killed = Steady::now();
  server.kill();
  EXPECT_TRUE(eventually([&] { return hold.lost(); }));
  EXPECT_LT(Steady::now() - killed, 2500ms) << "a lease, and a second for a slow machine";
  EXPECT_FALSE(hold.release());
  EXPECT_THROW(static_cast<void>(locks.lock("other").try_acquire(0s, 1s)), BackendUnavailable);
}

}  // namespace
}  // namespace latchkey::tests
