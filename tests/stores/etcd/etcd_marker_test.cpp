// The key that shows who waits for a release without a place in the queue.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <latchkey/backend.hpp>
#include <latchkey/parker.hpp>

#include "etcd_fixture.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Direction = FaultProxy::Direction;

/// Remembers whether the last request is completed, and how, and what it was notified of.
class LastOutcome final : public Sink {
 public:
  void completed(Request&, Outcome&& outcome) noexcept override {
    kind = outcome.kind;
    done = true;
  }
  void notified(const Notification& notification) noexcept override {
    releases += notification.kind == Notification::Kind::released ? 1 : 0;
    is_told_of_loss |= notification.kind == Notification::Kind::gone;
  }

  int releases = 0;
  bool is_told_of_loss = false;
  bool done = false;
  Outcome::Kind kind = Outcome::Kind::unknown;
};

/// A backend that reaches etcd by a proxy and has a session, which another lock keeps.
class EtcdMarker : public ::testing::Test {
 protected:
  EtcdMarker() { EXPECT_EQ(outcome_of(keeps_session_), Outcome::Kind::granted); }

  static Request request(Verb verb, const std::string& key, std::uint64_t id) {
    Request made;
    made.verb = verb;
    made.key = key;
    made.id = {{1, 1}, id};
    made.lease = 15s;
    return made;
  }
  void submit(Request& request) {
    sink_.done = false;
    Request* const one = &request;
    backend_->submit({&one, 1}, sink_);
  }
  void drive() { backend_->drive(Parker::mine(), Clock::system().now() + 5ms); }
  Outcome::Kind outcome_of(Request& request) {
    run_to_end(*backend_, request, sink_);
    return sink_.kind;
  }
  /// Whether the condition holds within ten seconds of driving.
  template <class Condition>
  bool driving(Condition&& condition) {
    return eventually([&] {
      drive();
      return condition();
    });
  }
  [[nodiscard]] bool is_marked() const {
    return !shared_etcd().keys("latchkey.waiting/" + key_ + '/').empty();
  }
  /// Whether it ends although its session lives.
  bool is_unmarked_in_the_end() {
    return driving([&] { return !is_marked(); });
  }

  const std::string key_ = fresh_etcd_key(), other_key_ = fresh_etcd_key();
  FaultProxy proxy_{shared_etcd().port()};
  std::unique_ptr<Backend> backend_ =
      etcd_backend("etcd://127.0.0.1:" + std::to_string(proxy_.port()) + "/?session=20s");
  LastOutcome sink_;
  Request keeps_session_ = request(Verb::acquire, other_key_, 1);
  Request subscribe_ = request(Verb::subscribe, key_, 2);
  Request unsubscribe_ = request(Verb::unsubscribe, key_, 2);
};

TEST_F(EtcdMarker, EndsIfItWasMadeButTheReplyWasLost) {
  proxy_.hold(Direction::to_client);
  submit(subscribe_);
  EXPECT_TRUE(driving([&] { return is_marked(); }));
  proxy_.cut();
  EXPECT_TRUE(driving([&] { return sink_.done; }));
  EXPECT_EQ(sink_.kind, Outcome::Kind::unknown);
  EXPECT_TRUE(is_unmarked_in_the_end());
}

// The connection is gone before etcd has read the request, and the key was deleted by another one.
TEST_F(EtcdMarker, EndsIfItIsMadeAfterItWasDeleted) {
  Request no_place = request(Verb::release, other_key_, 1);
  EXPECT_EQ(outcome_of(no_place), Outcome::Kind::granted);
  proxy_.hold(Direction::to_server);
  submit(subscribe_);
  for (int turn = 0; turn < 10; ++turn) drive();
  proxy_.cut_clients();
  EXPECT_TRUE(driving([&] { return sink_.done; }));
  EXPECT_EQ(sink_.kind, Outcome::Kind::unknown);
  EXPECT_EQ(outcome_of(unsubscribe_), Outcome::Kind::granted);
  proxy_.pass(Direction::to_server);
  const auto end = std::chrono::steady_clock::now() + 1s;  // etcd does not tell when it has read
  while (!is_marked() && std::chrono::steady_clock::now() < end) drive();
  EXPECT_TRUE(is_unmarked_in_the_end());
}

TEST_F(EtcdMarker, EndsIfTheConnectionWasLostWhileItWasDeleted) {
  EXPECT_EQ(outcome_of(subscribe_), Outcome::Kind::granted);
  EXPECT_TRUE(is_marked());
  proxy_.hold(Direction::to_server);
  submit(unsubscribe_);
  for (int turn = 0; turn < 10; ++turn) drive();
  proxy_.cut();
  EXPECT_TRUE(driving([&] { return sink_.done; }));
  EXPECT_TRUE(is_unmarked_in_the_end());
}

TEST_F(EtcdMarker, StaysWhileAnotherCallWaits) {
  Request second = request(Verb::subscribe, key_, 3), first_ends = unsubscribe_;
  EXPECT_EQ(outcome_of(subscribe_), Outcome::Kind::granted);
  EXPECT_EQ(outcome_of(second), Outcome::Kind::granted);
  EXPECT_EQ(outcome_of(first_ends), Outcome::Kind::granted);
  EXPECT_TRUE(is_marked());
  EXPECT_EQ(outcome_of(unsubscribe_), Outcome::Kind::granted);
  EXPECT_FALSE(is_marked());
}

// A call that waits subscribes again if the end of the subscription was never sent. One end was of
// one subscription, so the other one stayed for as long as the process.
TEST_F(EtcdMarker, EndsIfTheSameSubscriptionWasMadeAgain) {
  Request again = subscribe_;
  EXPECT_EQ(outcome_of(subscribe_), Outcome::Kind::granted);
  EXPECT_EQ(outcome_of(again), Outcome::Kind::granted);
  EXPECT_TRUE(is_marked());
  EXPECT_EQ(outcome_of(unsubscribe_), Outcome::Kind::granted);
  EXPECT_FALSE(is_marked());
}

// A watch that nobody knew any more called the queue, also after the queue was gone.
TEST_F(EtcdMarker, AfterItsSessionEndedTheWatchEndsWithTheSubscription) {
  Request holds = request(Verb::acquire, key_, 4), waits = request(Verb::acquire, key_, 5);
  waits.type = LockType::FAIR;
  waits.queue_wait = 15s;  // its place is on another session, and keeps the queue
  EXPECT_EQ(outcome_of(holds), Outcome::Kind::granted);
  EXPECT_EQ(outcome_of(waits), Outcome::Kind::busy);
  EXPECT_EQ(outcome_of(subscribe_), Outcome::Kind::granted);
  const std::string marker = shared_etcd().keys("latchkey.waiting/" + key_ + '/').at(0);
  shared_etcd().ctl({"lease", "revoke", marker.substr(marker.rfind('/') + 1)});
  EXPECT_TRUE(driving([&] { return sink_.is_told_of_loss; }));
  EXPECT_EQ(outcome_of(unsubscribe_), Outcome::Kind::granted);
  Request again = request(Verb::subscribe, key_, 2);
  EXPECT_EQ(outcome_of(again), Outcome::Kind::granted);
  sink_.releases = 0;
  shared_etcd().ctl({"put", key_ + "/x", "x"});
  shared_etcd().ctl({"del", key_ + "/x"});
  EXPECT_TRUE(driving([&] { return sink_.releases > 0; }));
  for (int turn = 0; turn < 20; ++turn) drive();
  EXPECT_EQ(sink_.releases, 1);
}

// etcd ended the watch, and nobody was told of a release until the next reconnection.
TEST_F(EtcdMarker, TheWatchGoesOnIfItsBeginWasCompactedAway) {
  EXPECT_EQ(outcome_of(subscribe_), Outcome::Kind::granted);
  proxy_.refuse(true);
  proxy_.cut();
  shared_etcd().ctl({"put", other_key_ + "-other", "1"});
  shared_etcd().ctl({"put", other_key_ + "-other", "2"});
  const std::string status = shared_etcd().ctl({"endpoint", "status", "--write-out=json"});
  const std::string name = "\"revision\":";
  const std::string revision = status.substr(status.find(name) + name.size());
  shared_etcd().ctl({"compaction", revision.substr(0, revision.find_first_not_of("0123456789"))});
  proxy_.refuse(false);
  EXPECT_TRUE(driving([&] { return sink_.releases > 0; })) << "it may have missed one";
  EXPECT_TRUE(driving([&] {
    sink_.releases = 0;
    shared_etcd().ctl({"put", key_ + "/x", "x"});
    shared_etcd().ctl({"del", key_ + "/x"});
    for (int turn = 0; turn < 10 && sink_.releases == 0; ++turn) drive();
    return sink_.releases > 0;
  }));
}

TEST(EtcdMarkerWithPermissions, EndsAlthoughItsDeletionWasRefusedForAWhile) {
  EtcdServer server;
  const auto as_root = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "--user=root:top");
    return server.ctl(words);
  };
  server.ctl({"user", "add", "root:top"});
  server.ctl({"user", "grant-role", "root", "root"});
  server.ctl({"user", "add", "me:secret"});
  server.ctl({"role", "add", "locks"});
  server.ctl({"role", "grant-permission", "--prefix", "locks", "readwrite", "mine:"});
  server.ctl({"role", "grant-permission", "--prefix", "locks", "readwrite", "latchkey.waiting/"});
  server.ctl({"user", "grant-role", "me", "locks"});
  server.ctl({"auth", "enable"});
  const auto backend = etcd_backend("etcd://me:secret@" + server.address() + "/?session=20s");
  LastOutcome sink;
  const auto outcome_of = [&](Request request) {
    run_to_end(*backend, request, sink);
    return sink.kind;
  };
  Request request;
  request.key = "mine:1";
  request.id = {{1, 1}, 1};
  request.verb = Verb::subscribe;
  EXPECT_EQ(outcome_of(request), Outcome::Kind::granted);
  as_root({"role", "revoke-permission", "--prefix", "locks", "latchkey.waiting/"});
  request.verb = Verb::unsubscribe;
  EXPECT_EQ(outcome_of(request), Outcome::Kind::refused);
  as_root({"role", "grant-permission", "--prefix", "locks", "readwrite", "latchkey.waiting/"});
  EXPECT_TRUE(eventually([&] {
    backend->drive(Parker::mine(), Clock::system().now() + 5ms);
    return as_root({"get", "--prefix", "--keys-only", "latchkey.waiting/"}).empty();
  }));
}

}  // namespace
}  // namespace latchkey::tests
