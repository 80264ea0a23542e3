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

/// Remembers whether the last request is completed, and how.
class LastOutcome final : public Sink {
 public:
  void completed(Request&, Outcome&& outcome) noexcept override {
    kind = outcome.kind;
    done = true;
  }
  void notified(const Notification&) noexcept override {}

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
    submit(request);
    EXPECT_TRUE(driving([&] { return sink_.done; }));
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

}  // namespace
}  // namespace latchkey::tests
