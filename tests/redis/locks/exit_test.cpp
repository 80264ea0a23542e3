// Releases while the program or the thread is already ending.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <latchkey/attempt.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/process.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

class RedisLateRelease : public ::testing::TestWithParam<const char*> {
 protected:
  /// Empty: the program ended with 0 and left no key.
  std::string run(std::vector<std::string> command, const std::string& uri) {
    command.insert(command.end(), {LATCHKEY_LATE_RELEASE, uri, GetParam()});
    const std::string log = server_.folder() / "log";
    Process program(command, log);
    const int status = program.wait();
    const std::string keys = server_.client()({"DBSIZE"}).text();
    if (status == 0 && keys == "0") return {};
    std::ostringstream text;
    text << "ended with " << status << " and left " << keys << " keys\n"
         << std::ifstream(log).rdbuf();
    return text.str();
  }

  static bool has_valgrind() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
    if (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)) return false;
#endif
    struct stat found{};
    return ::stat("/usr/bin/valgrind", &found) == 0;
  }

  std::string tls_uri() {
    return "rediss://127.0.0.1:" + std::to_string(server_.tls_port()) +
           "?tls_ca=" + server_.certificates().authority;
  }

  RedisServer server_{{.tls = true}};
};

TEST_P(RedisLateRelease, ReleasesTheLockAndTheProgramExitsNormally) {
  EXPECT_EQ(run({}, server_.tcp_uri()), "");
}

TEST_P(RedisLateRelease, ReleasesTheLockOverTls) { EXPECT_EQ(run({}, tls_uri()), ""); }

TEST_P(RedisLateRelease, AccessesNoFreedMemory) {
  if (!has_valgrind()) GTEST_SKIP() << "there is no valgrind, or a sanitizer takes its place";
  EXPECT_EQ(run({"/usr/bin/valgrind", "--error-exitcode=9", "-q"}, server_.tcp_uri()), "");
}

INSTANTIATE_TEST_SUITE_P(When, RedisLateRelease,
                         ::testing::Values("static-hold", "static-locks", "static-composite",
                                           "static-locker", "main-thread-hold", "thread-hold",
                                           "thread-locker", "exit-in-a-thread"),
                         [](const auto& param) {
                           std::string name = param.param;
                           for (char& each : name) {
                             if (each == '-') each = '_';
                           }
                           return name;
                         });

// Its script may be unknown to the server, so that it takes two commands.
TEST(RedisClose, SendsTheLeaveOfACancelledFairWaiterBeforeItReturns) {
  RedisServer server;
  const Locks holder = Locks::connect(server.tcp_uri());
  const Hold hold = holder.lock("k", LockType::FAIR).acquire(forever);
  const Locks locks = Locks::connect(server.tcp_uri());
  const auto queued = [&] {
    return server.client()({"LLEN", "redisson_lock_queue:{k}"}).integer();
  };
  std::jthread waiter([&](const std::stop_token& cancelled) {
    Attempt attempt;
    attempt.type = LockType::FAIR;
    attempt.wait = forever;
    attempt.cancel = cancelled;
    EXPECT_THROW(static_cast<void>(locks.acquire("k", attempt)), Cancelled);
  });
  EXPECT_TRUE(eventually([&] { return queued() == 1; }));
  server.client()({"SCRIPT", "FLUSH"});
  waiter.request_stop();
  waiter.join();
  locks.close(std::chrono::milliseconds(0));
  EXPECT_EQ(queued(), 0);
}

}  // namespace
}  // namespace latchkey::tests
