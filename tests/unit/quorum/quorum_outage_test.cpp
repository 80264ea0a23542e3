// A quorum with a server that does not reply, or that is another of its servers.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/quorum.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "quorum/quorum_backend.hpp"
#include "support/allocations.hpp"
#include "unit/quorum/answering_server.hpp"

namespace latchkey::detail::quorum {
namespace {

using namespace std::chrono_literals;
using latchkey::testing::ManualClock;
using Kind = Outcome::Kind;

/// Three servers that answer when the test says so.
class QuorumOutage : public ::testing::Test {
 protected:
  LastOutcome& send(Verb verb, std::uint64_t hold) {
    Request& request = requests_.emplace_back();
    LastOutcome& sink = sinks_.emplace_back();
    request.verb = verb;
    request.key = "k";
    request.id = {{1, 2}, hold};
    request.lease = 30s;
    Request* const one[] = {&request};
    quorum_->submit(one, sink);
    return sink;
  }
  void reply(std::initializer_list<std::size_t> servers, Verb verb, Kind kind) {
    for (const std::size_t server : servers) servers_.at(server)->reply(verb, kind);
  }
  /// A hold that the first server may have.
  void hold_without_the_first(std::uint64_t hold) {
    send(Verb::acquire, hold);
    reply({1, 2}, Verb::acquire, Kind::granted);
  }
  void release_without_the_first(std::uint64_t hold) {
    send(Verb::release, hold);
    reply({1, 2}, Verb::release, Kind::granted);
  }
  /// Everything that the first server was asked for ends without a reply.
  void first_is_silent() {
    for (const Verb verb : servers_[0]->unanswered()) servers_[0]->reply(verb, Kind::unknown);
  }
  void pass(ManualClock::duration time) {
    clock_.advance(time);
    quorum_->drive(Parker::mine(), clock_.now());
  }
  [[nodiscard]] std::size_t asked_of_first() const { return servers_[0]->unanswered().size(); }

  ManualClock clock_;
  std::array<AnsweringServer*, 3> servers_{};
  std::deque<LastOutcome> sinks_;
  std::deque<Request> requests_;
  std::unique_ptr<QuorumBackend> quorum_ = quorum_of(servers_, clock_);
};

// Each hold was released every second until its lease was over at a server that was down all the
// time: within half a minute nothing else was done.
TEST_F(QuorumOutage, ReleasesNothingAtAServerThatNeverGotTheAcquire) {
  send(Verb::acquire, 1);
  servers_[0]->reply(Verb::acquire, Kind::unknown, true);
  reply({1, 2}, Verb::acquire, Kind::granted);
  const LastOutcome& release = send(Verb::release, 1);
  EXPECT_EQ(asked_of_first(), 0U);
  reply({1, 2}, Verb::release, Kind::granted);
  EXPECT_EQ(release.kind, Kind::granted) << "and it does not wait for that server";
}

TEST_F(QuorumOutage, EndsTheRepetitionsIfTheAcquireTurnsOutToHaveNeverRun) {
  hold_without_the_first(1);
  release_without_the_first(1);
  servers_[0]->reply(Verb::acquire, Kind::unknown, true);
  servers_[0]->reply(Verb::release, Kind::unknown);
  pass(1s);
  EXPECT_EQ(asked_of_first(), 0U);
}

TEST_F(QuorumOutage, ReleasesAtAServerThatGotTheAcquireByARenewal) {
  send(Verb::acquire, 1);
  servers_[0]->reply(Verb::acquire, Kind::unknown, true);
  reply({1, 2}, Verb::acquire, Kind::granted);
  send(Verb::renew, 1);
  reply({1, 2}, Verb::renew, Kind::granted);
  servers_[0]->reply(Verb::renew, Kind::gone);
  servers_[0]->reply(Verb::acquire, Kind::granted);
  send(Verb::release, 1);
  EXPECT_EQ(servers_[0]->unanswered(), std::vector{Verb::release});
  reply({0, 1, 2}, Verb::release, Kind::granted);
}

TEST_F(QuorumOutage, RepeatsOneReleaseASecondAndMoreWithEachReply) {
  for (std::uint64_t hold = 1; hold <= 20; ++hold) {
    hold_without_the_first(hold);
    release_without_the_first(hold);
  }
  first_is_silent();
  for (int second = 0; second < 3; ++second) {
    pass(1s);
    EXPECT_EQ(servers_[0]->unanswered(), std::vector{Verb::release}) << "one for all of them";
    first_is_silent();
  }
  pass(1s);
  int replies = 0;
  for (; asked_of_first() > 0; ++replies) servers_[0]->reply(Verb::release, Kind::gone);
  EXPECT_EQ(replies, 20) << "without another second";
}

TEST_F(QuorumOutage, AServerThatStaysSilentGetsOneAcquireASecond) {
  std::uint64_t hold = 0;
  while (hold < 1'000) hold_without_the_first(++hold);
  const std::size_t before = asked_of_first();
  hold_without_the_first(++hold);
  EXPECT_EQ(asked_of_first(), before + 1) << "whether it replies again";
  for (int each = 0; each < 10; ++each) hold_without_the_first(++hold);
  EXPECT_EQ(asked_of_first(), before + 1);
  clock_.advance(1s);
  hold_without_the_first(++hold);
  EXPECT_EQ(asked_of_first(), before + 2);
  servers_[0]->reply(Verb::acquire, Kind::granted);
  for (int each = 0; each < 3; ++each) hold_without_the_first(++hold);
  EXPECT_EQ(asked_of_first(), before + 4) << "it has replied";
}

// The caller of a release whose outcome is unknown sends it again each second.
TEST_F(QuorumOutage, AReleaseThatIsRepeatedIsNotSentOnceMore) {
  send(Verb::acquire, 1);
  reply({0, 1, 2}, Verb::acquire, Kind::granted);
  send(Verb::release, 1);
  reply({1, 2}, Verb::release, Kind::unknown);
  pass(1s);  // both are repeated
  const LastOutcome& again = send(Verb::release, 1);
  EXPECT_EQ(servers_[0]->unanswered(), (std::vector{Verb::release, Verb::release}))
      << "the first one may be answered yet, and the second one after it";
  EXPECT_EQ(servers_[1]->unanswered(), std::vector{Verb::release});
  EXPECT_EQ(servers_[2]->unanswered(), std::vector{Verb::release});
  reply({0, 1, 2}, Verb::release, Kind::granted);
  reply({0}, Verb::release, Kind::gone);
  EXPECT_EQ(again.kind, Kind::unknown);
  const LastOutcome& last = send(Verb::release, 1);
  pass(1ms);
  EXPECT_EQ(last.kind, Kind::gone) << "nothing is left";
}

// A record of each hold that was released while a majority was away stayed for ever.
TEST_F(QuorumOutage, AReleasedHoldIsForgottenWhenItsLeaseIsOver) {
  send(Verb::acquire, 1);
  reply({0, 1, 2}, Verb::acquire, Kind::granted);
  send(Verb::release, 1);
  servers_[0]->reply(Verb::release, Kind::granted);
  clock_.advance(31s);
  reply({1, 2}, Verb::release, Kind::unknown);
  pass(1ms);
  const LastOutcome& again = send(Verb::release, 1);
  pass(1ms);
  EXPECT_EQ(again.kind, Kind::gone);
  for (AnsweringServer* const server : servers_) EXPECT_TRUE(server->unanswered().empty());
}

// The thread that found the leases over may drive, and sleep, for ever: it kept the memory.
TEST_F(QuorumOutage, TheMemoryOfAReleaseIsFreeBeforeItsThreadSleeps) {
  if (!tests::counts_allocations()) GTEST_SKIP() << "the sanitizer's heap is not counted";
  constexpr std::uint64_t holds = 200;
  for (std::uint64_t hold = 1; hold <= holds; ++hold) {
    hold_without_the_first(hold);
    release_without_the_first(hold);
  }
  first_is_silent();
  send(Verb::acquire, holds + 1);  // so that the servers are driven
  std::size_t asleep = 0;
  servers_[1]->on_drive = [&](Parker&) { asleep = ::mallinfo2().uordblks; };
  const std::size_t before = ::mallinfo2().uordblks;
  pass(31s);
  EXPECT_LT(asleep + holds * sizeof(Operation), before);
  servers_[1]->on_drive = nullptr;
  reply({0, 1, 2}, Verb::acquire, Kind::granted);
}

// --- a server that stands twice in the quorum ---

std::string refusal_of(std::initializer_list<const char*> names) {
  std::vector<std::unique_ptr<Backend>> servers;
  for (const char* const name : names) {
    auto server = std::make_unique<AnsweringServer>();
    server->name = name;
    servers.push_back(std::move(server));
  }
  try {
    static_cast<void>(make_quorum(std::move(servers)));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

// It was accepted, and one server granted a lock with two votes of three.
TEST(QuorumIdentity, AServerThatStandsTwiceIsRefused) {
  EXPECT_EQ(refusal_of({"a", "b", "a"}),
            "quorum: 'server' and 'server' are one server, which would vote twice: both are 'a'; "
            "expected independent servers");
  EXPECT_EQ(refusal_of({"a", "b", "c"}), "accepted");
  EXPECT_EQ(refusal_of({"", "", ""}), "accepted") << "they do not say who they are";
}

TEST_F(QuorumOutage, AServerThatTurnsOutToBeAnotherHasNoVote) {
  Notification up;
  up.kind = Notification::Kind::link_up;
  send(Verb::acquire, 1);
  reply({0, 1, 2}, Verb::acquire, Kind::granted);
  servers_[0]->name = servers_[2]->name = "a";
  servers_[1]->name = "b";
  servers_[2]->notify(up);
  EXPECT_NE(quorum_->warning().find("it is one of the servers before it"), std::string::npos);
  const LastOutcome& second = send(Verb::acquire, 2);
  EXPECT_TRUE(servers_[2]->unanswered().empty());
  servers_[0]->reply(Verb::acquire, Kind::granted);
  EXPECT_NE(second.kind, Kind::granted) << "one of two servers is no majority of three";
  servers_[1]->reply(Verb::acquire, Kind::granted);
  EXPECT_EQ(second.kind, Kind::granted);
  servers_[2]->name = "c";
  servers_[2]->notify(up);
  EXPECT_EQ(quorum_->warning(), "");
}

}  // namespace
}  // namespace latchkey::detail::quorum
