// The driver of a store's client: the contract, threads, event loops, links and forks.
#include "stores/driver/driven_backend.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/testing/backend_contract.hpp>

#include "support/fork.hpp"
#include "unit/stores/loopback_client.hpp"

namespace {

using latchkey::tests::LoopbackClient;

struct LoopbackStore {
  static constexpr std::chrono::milliseconds unit{50};

  std::unique_ptr<latchkey::Backend> backend() {
    return latchkey::detail::stores::drive_client(
        std::make_unique<LoopbackClient>(space, options()), options());
  }
  std::string fresh_key() {
    static std::atomic<int> last = 0;
    return "key" + std::to_string(++last);
  }
  // sleeps: leases end by real time
  static void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  static latchkey::Options options() { return {}; }

  const std::string space = "loopback" + fresh_key();
  // The space lives as long as somebody uses it.
  std::unique_ptr<latchkey::Backend> keeper =
      latchkey::detail::make_memory_backend("memory:" + space, options());
};

}  // namespace

LATCHKEY_BACKEND_CONTRACT(DrivenBackend, LoopbackStore);

namespace latchkey::detail::stores {
namespace {

using namespace std::chrono_literals;

/// Counts what it receives. Thread-safe.
struct Listener final : Sink {
  void completed(Request&, Outcome&& outcome) noexcept override {
    last = outcome.kind;
    ++outcomes;
    if (parker != nullptr) parker->unpark();
  }
  void notified(const Notification& notification) noexcept override {
    if (notification.kind == Notification::Kind::link_down) ++downs;
    if (notification.kind == Notification::Kind::link_up) ++ups;
    if (notification.kind == Notification::Kind::warning) ++warnings;
  }
  std::atomic<int> outcomes = 0, downs = 0, ups = 0, warnings = 0;
  std::atomic<Outcome::Kind> last = Outcome::Kind::unknown;
  Parker* parker = nullptr;
};

class DrivenBackendTest : public ::testing::Test {
 protected:
  static Request acquire_of(std::string_view key) {
    Request request;
    request.key = key;
    request.id = {HoldId::new_space(), 1};
    request.lease = 30s;
    return request;
  }
  void submit(Request& request) {
    Request* const one[] = {&request};
    backend.submit(one, listener);
  }
  static Clock::time_point in(std::chrono::milliseconds time) {
    return later(Clock::system().now(), time);
  }

  std::unique_ptr<LoopbackClient> made = std::make_unique<LoopbackClient>("", Options{});
  LoopbackClient& client = *made;
  DrivenBackend backend{std::move(made), Options{}};
  Listener listener;
};

TEST_F(DrivenBackendTest, AThreadThatPollsTakesWhatAnotherSubmits) {
  Request request = acquire_of("a");
  std::thread driver([&] {
    while (listener.outcomes == 0) backend.drive(Parker::mine(), in(10s));
  });
  submit(request);
  driver.join();
  EXPECT_EQ(listener.last, Outcome::Kind::granted);
}

TEST_F(DrivenBackendTest, AFollowerGoesOnWhenTheLeaderLeaves) {
  client.answers = false;
  Request request = acquire_of("a");
  submit(request);
  std::atomic<bool> stop = false;
  std::atomic<Parker*> leader = nullptr;
  std::thread first([&] {
    leader = &Parker::mine();
    while (!stop) backend.drive(Parker::mine(), in(10s));
  });
  while (leader == nullptr) std::this_thread::yield();
  std::thread second([&] {
    while (listener.outcomes == 0) backend.drive(Parker::mine(), in(10s));
  });
  stop = true;
  leader.load()->unpark();
  first.join();
  client.answer_now();
  second.join();
  EXPECT_EQ(listener.outcomes, 1);
}

// `client` reports nothing without a request, so no thread polls for it all the time. A thread that
// followed when the leader left takes what is submitted later by a thread that does not drive.
TEST_F(DrivenBackendTest, AFollowerTakesWhatIsSubmittedAfterTheLeaderHasLeft) {
  client.awaits = false;
  client.answers = false;
  Request first = acquire_of("a"), second = acquire_of("b");
  submit(first);
  std::atomic<bool> leads = false;
  std::thread leader([&] {
    leads = true;
    while (listener.outcomes == 0) backend.drive(Parker::mine(), in(10s));
  });
  while (!leads) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);  // sleeps: the leader polls
  std::thread follower([&] {
    while (listener.outcomes < 2) backend.drive(Parker::mine(), in(10s));
  });
  std::this_thread::sleep_for(20ms);  // sleeps: the follower has parked
  client.answer_now();
  leader.join();
  client.answers = true;
  const Clock::time_point begin = Clock::system().now();
  submit(second);
  follower.join();
  EXPECT_EQ(listener.outcomes, 2);
  EXPECT_LT(Clock::system().now() - begin, 5s) << "it was parked until its own time was over";
}

TEST_F(DrivenBackendTest, AnEarlierDeadlineOfTheClientWakesTheThreadThatPolls) {
  std::atomic<bool> stop = false;
  std::atomic<Parker*> parker = nullptr;
  std::thread driver([&] {
    parker = &Parker::mine();
    while (!stop) backend.drive(Parker::mine(), in(60s));
  });
  while (parker == nullptr) std::this_thread::yield();
  Request request = acquire_of("a");
  client.alarm = in(20ms);  // as a client does in submit
  client.answers = false;
  submit(request);
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (client.alarms == 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(client.alarms, 1);
  stop = true;
  parker.load()->unpark();
  driver.join();
}

TEST_F(DrivenBackendTest, AConnectionThatReplacesAnotherIsPolledAtOnce) {
  client.reconnects = true;
  std::atomic<bool> stop = false;
  std::atomic<Parker*> parker = nullptr;
  std::thread driver([&] {
    parker = &Parker::mine();
    while (!stop) backend.drive(Parker::mine(), in(60s));
  });
  while (parker == nullptr) std::this_thread::yield();
  auto fastest = std::chrono::nanoseconds(1h);
  for (int attempt = 0; attempt < 5 && fastest > 100ms; ++attempt) {  // the machine may be busy
    std::this_thread::sleep_for(20ms);  // sleeps: the driver polls, for a second
    const std::string key = "key " + std::to_string(attempt);
    Request request = acquire_of(key);
    const Clock::time_point begin = Clock::system().now();
    submit(request);
    while (listener.outcomes <= attempt) std::this_thread::yield();
    fastest = std::min(fastest, std::chrono::nanoseconds(Clock::system().now() - begin));
  }
  EXPECT_LT(fastest, 500ms) << "the thread slept until its poll was over";
  stop = true;
  parker.load()->unpark();
  driver.join();
}

TEST_F(DrivenBackendTest, ALoopDrivesIt) {
  const auto loop = backend.make_loop_driver();
  loop->join();
  Request request = acquire_of("a");
  submit(request);
  pollfd wanted{.fd = loop->descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&wanted, 1, 10'000), 1);
  loop->drive();
  EXPECT_EQ(listener.outcomes, 1);
  ASSERT_EQ(::poll(&wanted, 1, 0), 0);
  client.alarm = in(5ms);
  Request second = acquire_of("b");
  submit(second);
  while (client.alarms == 0 && ::poll(&wanted, 1, 10'000) == 1) loop->drive();
  EXPECT_EQ(client.alarms, 1);
  EXPECT_EQ(listener.outcomes, 2);
  loop->leave();
}

TEST_F(DrivenBackendTest, SinksLearnOfEachChangeOfTheConnectionOnce) {
  EXPECT_TRUE(backend.connections().front().up);
  Request request = acquire_of("a");
  submit(request);
  client.outbox().link(false, "gone");
  client.outbox().link(false, "still gone");
  client.outbox().link(true, {});
  while (listener.ups == 0) backend.drive(Parker::mine(), in(10s));
  EXPECT_EQ(listener.downs, 1);
  EXPECT_EQ(listener.ups, 1);
}

TEST_F(DrivenBackendTest, ASinkLearnsOfAChangeBeforeItsFirstRequest) {
  EXPECT_TRUE(backend.connections().front().up);
  client.outbox().link(false, "gone");
  Request request = acquire_of("a");
  submit(request);
  while (listener.outcomes == 0) backend.drive(Parker::mine(), in(10s));
  EXPECT_EQ(listener.downs, 1);
}

// It was silent about both.
TEST_F(DrivenBackendTest, ItWarnsOfAStoreThatIsDownAndTellsOnceOfOneThatRefuses) {
  Request request = acquire_of("a");
  submit(request);
  while (listener.outcomes == 0) backend.drive(Parker::mine(), in(10s));
  EXPECT_EQ(backend.warning(), "");
  client.outbox().link(false, "gone");
  client.start = StoreClient::Start::failed;
  client.failed = {false, "gone"};
  backend.drive(Parker::mine(), in(0s));
  EXPECT_EQ(backend.warning(),
            "it cannot be reached now, and grants locks as soon as it can: gone");
  EXPECT_EQ(listener.warnings, 0);
  client.failed = {true, "a wrong password"};
  for (int times = 0; times < 3; ++times) backend.drive(Parker::mine(), in(0s));
  EXPECT_EQ(backend.warning(), "it refuses, and so do its locks: a wrong password");
  EXPECT_EQ(listener.warnings, 1);
  client.failed = {false, "another one is down"};
  backend.drive(Parker::mine(), in(0s));
  client.failed = {true, "a wrong password"};
  backend.drive(Parker::mine(), in(0s));
  EXPECT_EQ(listener.warnings, 1) << "until it is up again";
}

TEST_F(DrivenBackendTest, ItWarnsOfAStoreThatIsSilent) {
  client.outbox().link(false, {});
  EXPECT_EQ(backend.warning(), "it has not answered yet, and grants locks as soon as it does");
}

TEST_F(DrivenBackendTest, ARefusalBeforeTheFirstRequestIsToldWithIt) {
  client.outbox().link(false, "gone");
  client.start = StoreClient::Start::failed;
  client.failed = {true, "a wrong password"};
  backend.drive(Parker::mine(), in(0s));
  Request request = acquire_of("a");
  submit(request);
  while (listener.outcomes == 0) backend.drive(Parker::mine(), in(10s));
  backend.drive(Parker::mine(), in(0s));
  EXPECT_EQ(listener.warnings, 1);
}

TEST_F(DrivenBackendTest, AForkedChildForgetsWhatIsTheParents) {
  client.answers = false;
  Request request = acquire_of("a");
  submit(request);
  const pid_t child = tests::fork_child();
  if (child == 0) {
    backend.forget_parent();
    backend.drive(Parker::mine(), in(1ms));
    ::_exit(listener.outcomes == 0 && client.abandoned == 1 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  client.answer_now();
  while (listener.outcomes == 0) backend.drive(Parker::mine(), in(10s));
  EXPECT_EQ(client.abandoned, 0);
}

}  // namespace
}  // namespace latchkey::detail::stores
