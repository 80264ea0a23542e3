// SimpleBackend: exceptions, order per key, concurrent keys, loops that leave, forks.
#include <latchkey/simple_backend.hpp>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <stdexcept>
#include <thread>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/loop_driver.hpp>

#include "support/fork.hpp"

namespace latchkey {
namespace {

using testing::Probe;
using Kind = Outcome::Kind;

constexpr std::chrono::milliseconds lease = std::chrono::seconds(30);

/// Calls the test's function for each acquire.
class Scripted final : public SimpleBackend {
 public:
  explicit Scripted(std::function<void(const Request&)> script) : script_(std::move(script)) {}
  std::string describe() const override { return "scripted:"; }

 protected:
  Outcome acquire(const Request& request) override {
    script_(request);
    return granted();
  }
  Outcome renew(const Request&) override { return granted(); }
  Outcome release(const Request&) override { return gone(); }
  void forked() noexcept override { in_child_ = true; }
  Outcome inspect(const Request&) override { return granted_if(in_child_); }

 private:
  std::function<void(const Request&)> script_;
  bool in_child_ = false;
};

Probe over(std::function<void(const Request&)> script) {
  return Probe(std::make_unique<Scripted>(std::move(script)), {});
}

TEST(SimpleBackend, ExceptionsAreUnknownOutcomesAndRefusedIsARefusal) {
  Probe broken = over([](const Request& request) {
    if (request.key == "late") throw std::runtime_error("no answer within 2 s");
    if (request.key == "no") throw SimpleBackend::Refused("the table is read-only");
    throw 42;
  });
  const auto acquire = [&](const char* key) {
    return broken.acquire(key, LockType::REENTRANT, broken.fresh_id(), lease);
  };
  EXPECT_EQ(acquire("late").kind, Kind::unknown);
  EXPECT_EQ(acquire("late").reason, "no answer within 2 s");
  EXPECT_EQ(acquire("no").kind, Kind::refused);
  EXPECT_EQ(acquire("no").reason, "the table is read-only");
  EXPECT_EQ(acquire("odd").kind, Kind::unknown);
  EXPECT_EQ(acquire("odd").reason, "the backend threw something that is not a std::exception");
}

TEST(SimpleBackend, RequestsThatAreNotOverriddenAreRefused) {
  Probe plain = over([](const Request&) {});
  EXPECT_EQ(plain.downgrade("k", plain.fresh_id(), lease).kind, Kind::refused);
  const Outcome refused = plain.send(Verb::force_release, "k");
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_EQ(refused.reason, "force_release is not offered");
  EXPECT_EQ(plain.send(Verb::acquire_all, "").kind, Kind::refused);
  EXPECT_EQ(plain.send(Verb::list, "*").kind, Kind::refused);
  EXPECT_EQ(plain.send(Verb::subscribe, "k").kind, Kind::granted);
  EXPECT_EQ(plain.send(Verb::verify, "k").kind, Kind::granted);
  EXPECT_EQ(plain.send(Verb::leave, "k").kind, Kind::gone) << "the default releases";
}

TEST(SimpleBackend, KeysRunConcurrentlyAndEachKeySerially) {
  constexpr std::size_t keys = 2, each = 50;
  std::latch both(keys);
  std::array<std::atomic<int>, keys> inside{};
  std::array<std::uint64_t, keys> last{};  // guarded by the promise that a key runs alone
  std::atomic<int> broken = 0;
  Scripted backend([&](const Request& request) {
    const std::size_t key = request.key == "0" ? 0 : 1;
    if (inside[key].fetch_add(1) != 0) ++broken;
    if (last[key] == 0) both.arrive_and_wait();  // hangs unless the two keys run at once
    if (request.id.number != last[key] + 1) ++broken;
    last[key] = request.id.number;
    inside[key].fetch_sub(1);
  });
  struct Count final : Sink {
    void completed(Request&, Outcome&&) noexcept override { ++done; }
    void notified(const Notification&) noexcept override {}
    std::atomic<std::size_t> done = 0;
  } sink;
  std::vector<Request> requests(keys * each);
  std::vector<Request*> all;
  for (std::size_t index = 0; index < requests.size(); ++index) {
    requests[index].key = index % keys == 0 ? "0" : "1";
    requests[index].id.number = index / keys + 1;
    all.push_back(&requests[index]);
  }
  backend.submit(all, sink);
  std::vector<std::thread> drivers;
  for (int driver = 0; driver < 3; ++driver) {
    drivers.emplace_back([&] {
      while (sink.done < requests.size()) {
        backend.drive(Parker::mine(), Clock::system().now() + std::chrono::milliseconds(5));
      }
    });
  }
  for (std::thread& driver : drivers) driver.join();
  EXPECT_EQ(sink.done, requests.size());
  EXPECT_EQ(broken, 0);
}

TEST(SimpleBackend, ASubmitByAnotherThreadWakesASleepingDriver) {
  Scripted backend([](const Request&) {});
  struct Wake final : Sink {
    void completed(Request&, Outcome&&) noexcept override { done = true; }
    void notified(const Notification&) noexcept override {}
    std::atomic<bool> done = false;
  } sink;
  std::thread driver([&] {
    while (!sink.done) backend.drive(Parker::mine(), Clock::never());
  });
  Request request;
  request.key = "k";
  Request* const one[] = {&request};
  backend.submit(one, sink);  // and drives nothing itself
  driver.join();
}

TEST(SimpleBackend, ALoopThatLeavesBeforeItDrivesPassesItsWorkOn) {
  Scripted backend([](const Request&) {});
  struct Note final : Sink {
    void completed(Request&, Outcome&&) noexcept override { done = true; }
    void notified(const Notification&) noexcept override {}
    bool done = false;
  } sink;
  const auto first = backend.make_loop_driver(), second = backend.make_loop_driver();
  const auto is_notified = [](const LoopDriver& loop) {
    pollfd polled{.fd = loop.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&polled, 1, 0) == 1;
  };
  first->join();
  second->join();
  Request request;
  request.key = "k";
  Request* const one[] = {&request};
  backend.submit(one, sink);
  ASSERT_TRUE(is_notified(*first));
  ASSERT_FALSE(is_notified(*second)) << "one loop is enough for one request";
  first->leave();
  ASSERT_TRUE(is_notified(*second));
  second->drive();
  EXPECT_TRUE(sink.done);
}

TEST(SimpleBackend, AForkedChildStartsEmpty) {
  Probe probe = over([](const Request&) {});
  struct Never final : Sink {
    void completed(Request&, Outcome&&) noexcept override { std::abort(); }
    void notified(const Notification&) noexcept override {}
  } sink;
  Request under_way;
  under_way.key = "k";
  Request* const one[] = {&under_way};
  const pid_t child = [&] {
    Scripted backend([](const Request&) {});
    backend.submit(one, sink);
    const pid_t forked = tests::fork_child();
    if (forked == 0) {
      backend.forget_parent();
      backend.drive(Parker::mine(), Clock::system().now());
      probe.backend().forget_parent();
      const bool granted = probe.send(Verb::inspect, "k").kind == Kind::granted;
      ::_exit(granted ? 0 : 1);
    }
    backend.forget_parent();  // the request goes with this scope
    return forked;
  }();
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace latchkey
