// Threads that hold requests back to send them together: one that submits many, and the one of an
// event loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/testing/backend_contract.hpp>

#include "redis/client/scripted_peer.hpp"
#include "redis/redis_backend.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using testing::Command;
using testing::ScriptedPeer;
using Entry = testing::contract::CountingSink::Entry;
using ::testing::ElementsAre;

class WriteBatcher : public ::testing::Test {
 protected:
  void submit(Entry& entry, Verb verb, std::uint64_t number, std::string_view key = "k") {
    entry.request.verb = verb;
    entry.request.key = key;
    entry.request.id = {{1, 2}, number};
    entry.request.lease = 30s;
    entry.request.context = &entry;
    entry.request.sent = Clock::system().now();
    entry.parker = &Parker::mine();
    Request* const one[] = {&entry.request};
    backend_->submit(one, sink_);
  }
  void wait_for(const Entry& entry) {
    while (entry.completions.load(std::memory_order_acquire) == 0) {
      backend_->drive(Parker::mine(), Clock::never());
    }
  }
  /// How many keys each script had.
  std::vector<std::string> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  /// Grants everything.
  std::optional<std::string> reply_to(const Command& command) {
    if (!ScriptedPeer::is_script(command)) return ScriptedPeer::proper(command);
    const std::lock_guard lock(mutex_);
    calls_.push_back(command[2]);
    if (command[2] == "1") return ":0\r\n";
    std::string all = "*" + command[2] + "\r\n";
    for (int left = std::stoi(command[2]); left > 0; --left) all += ":0\r\n";
    return all;
  }

  std::mutex mutex_;
  std::vector<std::string> calls_;
  const ScriptedPeer peer_{[this](const Command& command) { return reply_to(command); },
                           ScriptedPeer::SendAs::it_is};
  const std::unique_ptr<Backend> backend_ =
      detail::redis::make_redis_backend(peer_.uri(), {.command_timeout = 2s});
  testing::contract::CountingSink sink_;

 protected:
  Backend& backend() { return *backend_; }
};

TEST_F(WriteBatcher, ChecksAreOneCallWhenTheThreadUncorks) {
  std::array<Entry, 3> checks;
  backend().cork();
  for (std::size_t index = 0; index < checks.size(); ++index) {
    submit(checks[index], Verb::renew, index);
  }
  backend().uncork();
  for (const Entry& each : checks) {
    wait_for(each);
    EXPECT_EQ(each.kind, Outcome::Kind::granted);
  }
  EXPECT_THAT(calls(), ElementsAre("3"));
}

TEST_F(WriteBatcher, RequestsOfOtherThreadsAreSentAtOnceAndTakeTheKeptOnesAlong) {
  std::array<Entry, 2> checks;
  Entry acquire;
  backend().cork();
  submit(checks[0], Verb::renew, 1);
  submit(checks[1], Verb::verify, 2);
  std::thread([&] {
    submit(acquire, Verb::acquire, 3);
    wait_for(acquire);
  }).join();
  EXPECT_THAT(calls(), ElementsAre("2", "1")) << "in the order in which they were submitted";
  backend().uncork();
  for (const Entry& each : checks) wait_for(each);
}

TEST_F(WriteBatcher, ManyRequestsAreNotKept) {
  std::array<Entry, 1'024> checks;
  backend().cork();
  for (std::size_t index = 0; index < checks.size(); ++index) {
    submit(checks[index], Verb::renew, index);
  }
  for (const Entry& each : checks) wait_for(each);
  EXPECT_THAT(calls(), ::testing::Each("128"));
  EXPECT_EQ(calls().size(), 8U);
  backend().uncork();
}

/// This thread's event loop has received a reply, and runs the handlers.
class WriteBatcherOfALoop : public WriteBatcher {
 protected:
  WriteBatcherOfALoop() {
    loop_->join();
    submit(first_, Verb::acquire, 1);
    while (first_.completions.load(std::memory_order_acquire) == 0) {
      pollfd wanted{.fd = loop_->descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&wanted, 1, 10'000);
      loop_->drive();
    }
  }
  LoopDriver& loop() { return *loop_; }
  /// What a handler submits. The server processes the first request, and has the second one, which
  /// is long, so the renewals may be held back.
  void submit_all() {
    submit(acquires_[0], Verb::acquire, 2, long_key_);
    submit(acquires_[1], Verb::acquire, 3, long_key_);
    for (std::size_t index = 0; index < renewals_.size(); ++index) {
      submit(renewals_[index], Verb::renew, index + 4);
    }
  }
  void expect_granted() {
    for (const Entry* each : {&acquires_[0], &acquires_[1], &renewals_[0], &renewals_[1]}) {
      wait_for(*each);
      EXPECT_EQ(each->kind, Outcome::Kind::granted);
    }
  }

 private:
  const std::string long_key_ = std::string(1'000, 'k');
  const std::unique_ptr<LoopDriver> loop_ = backend().make_loop_driver();
  Entry first_;
  std::array<Entry, 2> acquires_, renewals_;
};

TEST_F(WriteBatcherOfALoop, WhatTheHandlersSubmitIsOneCallWhenTheyHaveRun) {
  submit_all();
  loop().flush();
  expect_granted();
  EXPECT_THAT(calls(), ElementsAre("1", "1", "1", "2"));
}

TEST_F(WriteBatcherOfALoop, AfterTheHandlersEachRequestIsSentAtOnce) {
  loop().flush();
  submit_all();
  expect_granted();
  EXPECT_THAT(calls(), ElementsAre("1", "1", "1", "1", "1"));
}

TEST_F(WriteBatcherOfALoop, RequestsOfOtherThreadsAreSentAtOnceAndTakeTheKeptOnesAlong) {
  submit_all();
  Entry acquire;
  std::thread([&] {
    submit(acquire, Verb::acquire, 9);
    wait_for(acquire);
  }).join();
  EXPECT_THAT(calls(), ElementsAre("1", "1", "1", "2", "1"));
  loop().flush();
  expect_granted();
}

TEST_F(WriteBatcherOfALoop, AHandlerThatBlocksSendsWhatItHasSubmitted) {
  submit_all();
  expect_granted();
  EXPECT_THAT(calls(), ElementsAre("1", "1", "1", "2"));
}

TEST_F(WriteBatcherOfALoop, TheLoopDrivesAgainForAMomentWhileAReplyIsExpected) {
  EXPECT_EQ(loop().flush(), LoopDriver::Next::wait) << "nothing is expected";
  submit_all();
  EXPECT_EQ(loop().flush(), LoopDriver::Next::drive);
  const auto begin = Clock::system().now();
  while (loop().flush() == LoopDriver::Next::drive) {  // without drive no reply arrives
    ASSERT_LT(Clock::system().now() - begin, 10s);
  }
  expect_granted();
}

TEST_F(WriteBatcherOfALoop, ALoopThatLeavesSendsWhatItHasSubmitted) {
  submit_all();
  loop().leave();
  expect_granted();
  EXPECT_THAT(calls(), ElementsAre("1", "1", "1", "2"));
}

}  // namespace
}  // namespace latchkey::tests
