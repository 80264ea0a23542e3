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

#include "redis/client/scripted_peer.hpp"
#include "redis/multiplexer/requests.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using testing::Command;
using ::testing::ElementsAre;
using testing::ScriptedPeer;

class WriteBatcher : public ::testing::Test {
 protected:
  void submit(Entry& entry, Verb verb, std::string_view key = "key") {
    requests_.fill(entry, verb, key);
    requests_.submit(entry);
  }
  void wait_for(const Entry& entry) { requests_.wait_for(entry); }
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
  Requests requests_{peer_.uri()};

 protected:
  Backend& backend() { return *requests_.backend; }
};

TEST_F(WriteBatcher, ChecksAreOneCallWhenTheThreadUncorks) {
  std::array<Entry, 3> checks;
  backend().cork();
  for (Entry& each : checks) {
    submit(each, Verb::renew);
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
  submit(checks[0], Verb::renew);
  submit(checks[1], Verb::verify);
  std::thread([&] {
    submit(acquire, Verb::acquire);
    wait_for(acquire);
  }).join();
  EXPECT_THAT(calls(), ElementsAre("2", "1")) << "in the order in which they were submitted";
  backend().uncork();
  for (const Entry& each : checks) wait_for(each);
}

TEST_F(WriteBatcher, ManyRequestsAreNotKept) {
  std::array<Entry, 1'024> checks;
  backend().cork();
  for (Entry& each : checks) {
    submit(each, Verb::renew);
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
    submit(first_, Verb::acquire);
    while (first_.completions.load(std::memory_order_acquire) == 0) {
      pollfd wanted{.fd = loop_->descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&wanted, 1, 10'000);
      loop_->drive();
    }
  }
  LoopDriver& loop() { return *loop_; }
  /// Submits as a handler does. The server processes the first request, and has the second one,
  /// which is long, so the renewals may be held back.
  void submit_all() {
    submit(acquires_[0], Verb::acquire, long_key_);
    submit(acquires_[1], Verb::acquire, long_key_);
    for (Entry& each : renewals_) {
      submit(each, Verb::renew);
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
    submit(acquire, Verb::acquire);
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
