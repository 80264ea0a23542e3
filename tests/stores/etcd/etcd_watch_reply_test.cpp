// Answers to the watches of holds that a real etcd gives rarely.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serving_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::etcd::ProtobufWriter;

/// A server that grants every lock, and answers the creation of a watch with the messages that
/// `replies` returns for its number, which begins with 1. A Put is followed by the confirmation of
/// the first watch.
class WatchedEtcd {
 public:
  using Replies = std::function<std::vector<std::string>(int number)>;

  explicit WatchedEtcd(Replies replies) : replies_(std::move(replies)) {}

  static std::string created(int number) { return reply(number).number(3, 1).take(); }
  static std::string refused(int number) { return reply(number).number(3, 1).number(4, 1).take(); }
  static std::string cancelled(int number) { return reply(number).number(4, 1).take(); }
  /// The outcome of a renewal that asks for a watch.
  static Outcome::Kind renew_and_watch(testing::Probe& probe, std::string_view key,
                                       const HoldId& id) {
    Request renew;
    renew.verb = Verb::renew;
    renew.key = key;
    renew.id = id;
    renew.lease = 5s;
    renew.watch = true;
    return probe.send(renew).kind;
  }
  [[nodiscard]] testing::Probe connect() const { return server_.connect(); }
  /// The first four letters of the keys that are watched, in the order of the requests.
  [[nodiscard]] std::vector<std::string> watched() {
    const std::lock_guard lock(mutex_);
    return watched_;
  }

 private:
  static ProtobufWriter reply(int number) {
    ProtobufWriter made;
    made.message(1, ProtobufWriter().number(3, 7).take()).number(2, number);
    return made;
  }
  std::string answer(const FakeEtcd::Call& call) {
    const std::lock_guard lock(mutex_);
    if (call.path.ends_with("/Put")) {
      return with_grants({call.stream, "/Txn"}) + etcd_wire::message(stream_, created(1));
    }
    if (!call.path.ends_with("/Watch")) return with_grants(call);
    stream_ = call.stream;
    std::string text = call.is_first ? etcd_wire::head(call.stream) : std::string();
    const std::size_t key = call.message.find("key");
    if (key == std::string::npos) return text;  // the end of a watch
    watched_.push_back(call.message.substr(key, 4));
    for (const std::string& each : replies_(static_cast<int>(watched_.size()))) {
      text += etcd_wire::message(call.stream, each);
    }
    return text;
  }

  const Replies replies_;
  std::mutex mutex_;
  std::vector<std::string> watched_;
  std::uint32_t stream_ = 0;
  ServingEtcd server_{[this](const FakeEtcd::Call& call) { return answer(call); }};
};

TEST(EtcdWatchReplies, AWatchOfAHoldThatEtcdRefusesNotifiesNothingAndIsAskedForAgain) {
  WatchedEtcd server([](int number) { return std::vector{WatchedEtcd::refused(number)}; });
  testing::Probe probe = server.connect();
  const HoldId id = probe.fresh_id();
  EXPECT_EQ(probe.acquire("key1", LockType::REENTRANT, id, 5s).kind, Outcome::Kind::granted);
  for (std::size_t check = 1; check <= 3; ++check) {
    EXPECT_EQ(WatchedEtcd::renew_and_watch(probe, "key1", id), Outcome::Kind::granted);
    EXPECT_TRUE(probe.notes(50ms).empty());
    EXPECT_EQ(server.watched().size(), check);
  }
}

TEST(EtcdWatchReplies, AWatchOfAHoldThatEtcdEndsIsNotifiedOnceAndIsAskedForAgain) {
  WatchedEtcd server([](int number) {
    std::vector<std::string> replies{WatchedEtcd::created(number)};
    if (number == 1) replies.push_back(WatchedEtcd::cancelled(number));
    return replies;
  });
  testing::Probe probe = server.connect();
  const HoldId id = probe.fresh_id();
  EXPECT_EQ(probe.acquire("key1", LockType::REENTRANT, id, 5s).kind, Outcome::Kind::granted);
  EXPECT_EQ(WatchedEtcd::renew_and_watch(probe, "key1", id), Outcome::Kind::granted);
  const auto notes = probe.notes(5s);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, Notification::Kind::changed);
  EXPECT_EQ(notes[0].key, "key1");
  EXPECT_EQ(WatchedEtcd::renew_and_watch(probe, "key1", id), Outcome::Kind::granted);
  EXPECT_TRUE(probe.notes(50ms).empty());
  EXPECT_EQ(server.watched().size(), 2U);
}

// etcd creates one watch after the other, and after a new connection there are many of holds.
TEST(EtcdWatchReplies, AWatchThatSomebodyWaitsForIsCreatedBeforeThoseOfHolds) {
  WatchedEtcd server([](int number) {
    return number == 1 ? std::vector<std::string>{} : std::vector{WatchedEtcd::created(number)};
  });
  testing::Probe probe = server.connect();
  for (const std::string_view key : {"key1", "key2", "key3"}) {
    const HoldId id = probe.fresh_id();
    EXPECT_EQ(probe.acquire(key, LockType::REENTRANT, id, 5s).kind, Outcome::Kind::granted);
    EXPECT_EQ(WatchedEtcd::renew_and_watch(probe, key, id), Outcome::Kind::granted);
  }
  EXPECT_EQ(probe.send(Verb::subscribe, "key4").kind, Outcome::Kind::granted);
  std::vector<std::string> watched = server.watched();
  watched.resize(3);
  // The second one is requested as soon as the first one is confirmed.
  EXPECT_EQ(watched, (std::vector<std::string>{"key1", "key2", "key4"}));
}

}  // namespace
}  // namespace latchkey::tests
