// Which servers of a quorum a release waits for.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "quorum/quorum_backend.hpp"
#include "unit/quorum/answering_server.hpp"

namespace latchkey::detail::quorum {
namespace {

using namespace std::chrono_literals;
using latchkey::testing::ManualClock;

/// Three servers, of which the first one answers when the test says so, and the others at once.
class QuorumRelease : public ::testing::Test {
 protected:
  /// The outcome becomes that of the returned sink.
  LastOutcome& send(Verb verb, std::uint64_t hold) {
    Request& request = requests_.emplace_back();
    LastOutcome& sink = sinks_.emplace_back();
    request.verb = verb;
    request.key = "k";
    request.id = {{1, 2}, hold};
    request.lease = 30s;
    Request* const one[] = {&request};
    quorum_->submit(one, sink);
    for (const std::size_t server : {1U, 2U}) {
      servers_.at(server)->reply(verb, Outcome::Kind::granted);
    }
    return sink;
  }
  void first_server_replies(Verb verb) { servers_[0]->reply(verb, Outcome::Kind::granted); }
  void pass(ManualClock::duration time) {
    clock_.advance(time);
    quorum_->drive(Parker::mine(), clock_.now());
  }
  static bool ended(const LastOutcome& sink) { return sink.kind == Outcome::Kind::granted; }

  ManualClock clock_;
  std::array<AnsweringServer*, 3> servers_{};
  std::deque<LastOutcome> sinks_;
  std::deque<Request> requests_;
  std::unique_ptr<QuorumBackend> quorum_ = quorum_of(servers_, clock_);
};

// Nobody drove the quorum after a release that two of three servers had answered. The third one had
// asked for the text of the script, and kept the key until the lease ended.
TEST_F(QuorumRelease, WaitsForAServerThatUsuallyReplies) {
  send(Verb::acquire, 1);
  first_server_replies(Verb::acquire);
  const LastOutcome& release = send(Verb::release, 1);
  EXPECT_FALSE(ended(release));
  first_server_replies(Verb::release);
  EXPECT_TRUE(ended(release));
}

TEST_F(QuorumRelease, WaitsAlthoughSeveralAcquiresWereDecidedWithoutTheServer) {
  for (std::uint64_t hold = 1; hold <= 5; ++hold) EXPECT_TRUE(ended(send(Verb::acquire, hold)));
  EXPECT_FALSE(ended(send(Verb::release, 1)));
  for (int hold = 1; hold <= 5; ++hold) first_server_replies(Verb::acquire);
  first_server_replies(Verb::release);
}

TEST_F(QuorumRelease, WaitsForAServerFor50Ms) {
  send(Verb::acquire, 1);
  first_server_replies(Verb::acquire);
  const LastOutcome& release = send(Verb::release, 1);
  pass(49ms);
  EXPECT_FALSE(ended(release));
  pass(2ms);
  EXPECT_TRUE(ended(release));
  first_server_replies(Verb::release);
}

TEST_F(QuorumRelease, DoesNotWaitForAServerThatMissedTheLastThreeUntilItRepliesInTime) {
  for (std::uint64_t hold = 1; hold <= 6; ++hold) {
    SCOPED_TRACE(hold);
    send(Verb::acquire, hold);
    first_server_replies(Verb::acquire);
    const LastOutcome& release = send(Verb::release, hold);
    EXPECT_EQ(ended(release), hold == 4 || hold == 5);
    if (hold != 5) pass(60ms);
    EXPECT_TRUE(ended(release));
    first_server_replies(Verb::release);
  }
}

}  // namespace
}  // namespace latchkey::detail::quorum
