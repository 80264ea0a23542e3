// A thread that submits many requests and keeps them until it has submitted all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <string>
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

class Cork : public ::testing::Test {
 protected:
  void submit(Entry& entry, Verb verb, std::uint64_t number) {
    entry.request.verb = verb;
    entry.request.key = "k";
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

TEST_F(Cork, ChecksAreOneCallWhenTheThreadUncorks) {
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

TEST_F(Cork, RequestsOfOtherThreadsAreSentAtOnceAndTakeTheKeptOnesAlong) {
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

TEST_F(Cork, ManyRequestsAreNotKept) {
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

}  // namespace
}  // namespace latchkey::tests
