// A quorum whose servers answer one by one, in an order that the test chooses: what an answer that
// arrives after the release of its hold leads to.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "quorum/quorum_backend.hpp"
#include "unit/quorum/answering_server.hpp"

namespace latchkey::detail::quorum {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

class QuorumLateAnswers : public ::testing::Test {
 protected:
  void submit(Request& request, Verb verb) {
    request.verb = verb;
    request.key = "k";
    request.id = {{1, 2}, 3};
    request.lease = 30s;
    Request* const one[] = {&request};
    quorum_->submit(one, sink_);
  }
  /// All servers but the first grant it, which is a majority.
  void majority_grants(Verb verb) {
    sink_.kind = Kind::unknown;
    servers_[1]->reply(verb, Kind::granted);
    servers_[2]->reply(verb, Kind::granted);
    EXPECT_EQ(sink_.kind, Kind::granted) << to_string(verb);
  }
  /// Holds on all servers. The renewal is granted by all but the first, which has not answered it.
  void hold_and_renew() {
    submit(acquire_, Verb::acquire);
    servers_[0]->reply(Verb::acquire, Kind::granted);
    majority_grants(Verb::acquire);
    submit(renew_, Verb::renew);
    majority_grants(Verb::renew);
  }

  std::array<AnsweringServer*, 3> servers_{};
  LastOutcome sink_;
  Request acquire_, renew_, release_;
  std::unique_ptr<QuorumBackend> quorum_ = quorum_of(servers_, Clock::system());
};

TEST_F(QuorumLateAnswers, AServerThatForgotIsAskedForTheHoldAgain) {
  hold_and_renew();
  servers_[0]->reply(Verb::renew, Kind::gone);
  EXPECT_EQ(servers_[0]->unanswered(), std::vector{Verb::acquire});
}

TEST_F(QuorumLateAnswers, AServerThatForgotIsNotAskedAgainAfterTheRelease) {
  hold_and_renew();
  submit(release_, Verb::release);
  servers_[0]->reply(Verb::renew, Kind::gone);
  EXPECT_EQ(servers_[0]->unanswered(), std::vector{Verb::release})
      << "the release not yet answered";
  servers_[0]->reply(Verb::release, Kind::gone);
  majority_grants(Verb::release);
  EXPECT_TRUE(servers_[0]->unanswered().empty());
}

TEST_F(QuorumLateAnswers, ARepairThatIsGrantedAfterTheReleaseIsGivenBack) {
  hold_and_renew();
  servers_[0]->reply(Verb::renew, Kind::gone);
  submit(release_, Verb::release);
  // The release has overtaken the acquire.
  servers_[0]->reply(Verb::release, Kind::gone);
  majority_grants(Verb::release);
  servers_[0]->reply(Verb::acquire, Kind::granted);
  EXPECT_EQ(servers_[0]->unanswered(), std::vector{Verb::release});
}

struct UnparkingSink final : Sink {
  void completed(Request& /*request*/, Outcome&& /*outcome*/) noexcept override { parker.unpark(); }
  void notified(const Notification& /*notification*/) noexcept override {}
  Parker& parker = Parker::mine();
};

// Another thread delivers the decisive reply while this one polls a server, and the poll consumes
// the unpark. The thread then slept in the next server, in manual time for ever.
TEST_F(QuorumLateAnswers, AnUnparkThatAPollConsumesEndsTheDrive) {
  UnparkingSink sink;
  Request request;
  request.verb = Verb::acquire;
  request.key = "k";
  request.id = {{1, 2}, 4};
  request.lease = 30s;
  Request* const one[] = {&request};
  quorum_->submit(one, sink);
  servers_[1]->on_drive = [&](Parker& parker) {
    std::thread([&] {
      servers_[1]->reply(Verb::acquire, Kind::granted);
      servers_[2]->reply(Verb::acquire, Kind::granted);
    }).join();
    EXPECT_TRUE(parker.park_until(Clock::system(), Clock::time_point::min()));
  };
  quorum_->drive(sink.parker, Clock::system().now() + 30s);
  EXPECT_EQ(servers_[1]->drives, 1);
  EXPECT_EQ(servers_[0]->drives, 0) << "the server in which it would block";
  servers_[0]->reply(Verb::acquire, Kind::granted);
}

// A thread that gets no processor for longer than servers may take must not overlook what they
// have replied meanwhile. On quorums of memory backends, which reply at once, calls ended as
// unavailable on a busy machine.
TEST_F(QuorumLateAnswers, RepliesThatHaveArrivedCountAlthoughTheirTimeIsOver) {
  acquire_.sent = Clock::system().now() - 10s;
  submit(acquire_, Verb::acquire);
  for (const std::size_t server : {0U, 1U}) {
    servers_[server]->on_drive = [this, server](Parker&) {
      servers_[server]->on_drive = nullptr;
      servers_[server]->reply(Verb::acquire, Kind::granted);
    };
  }
  quorum_->drive(Parker::mine(), Clock::system().now() + 30s);
  EXPECT_EQ(sink_.kind, Kind::granted);
  servers_[2]->reply(Verb::acquire, Kind::granted);
}

}  // namespace
}  // namespace latchkey::detail::quorum
