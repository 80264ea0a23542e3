// Answers that are missing although the connection works.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/etcd.hpp>

#include "backend/registry.hpp"
#include "serving_server.hpp"
#include "stores/etcd/wire/protobuf.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::etcd::ProtobufWriter;

// The call of a watch has no end, and nothing else limited the time.
TEST(EtcdReplies, ASubscriptionWhoseWatchIsNotConfirmedEndsWithTheTimeout) {
  FakeEtcd server(without_watches);
  std::optional<std::jthread> serving([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(server.work(10));
  });
  register_etcd();
  const Options options{.command_timeout = 1s};
  testing::Probe probe(detail::find_backend_factory("etcd")(server.uri(), options), options);
  auto outcome = std::async(std::launch::async, [&] { return probe.send(Verb::subscribe, "k"); });
  const bool ends = outcome.wait_for(20s) == std::future_status::ready;
  EXPECT_TRUE(ends);
  if (!ends) {
    serving.reset();
    server.hang_up();
  }
  const Outcome end = outcome.get();
  EXPECT_EQ(end.kind, Outcome::Kind::unknown);
  EXPECT_FALSE(end.reason.empty());
}

// etcd 3.5.30 does so to users who are not administrators. They could not begin.
TEST(EtcdReplies, AServerThatTellsItsStatusToAdministratorsOnlyIsUsed) {
  const ServingEtcd server([&](const FakeEtcd::Call& call) {
    return call.path.ends_with("/Status")
               ? etcd_wire::head(call.stream) + etcd_wire::trailer(call.stream, "7")
               : without_watches(call);
  });
  EXPECT_NO_THROW(static_cast<void>(server.connect()));
}

// It became a fencing token, and a number that was too small for another one below it.
TEST(EtcdReplies, AGrantWithARevisionThatEtcdCannotHaveMadeIsUnknown) {
  for (const std::int64_t revision : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    const ServingEtcd server(
        [&](const FakeEtcd::Call& call) { return with_grants(call, revision); });
    testing::Probe probe = server.connect();
    const Outcome outcome = probe.acquire("k", LockType::FENCED, probe.fresh_id(), 5s);
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
    EXPECT_NE(outcome.reason.find("malformed"), std::string::npos) << outcome.reason;
  }
}

// A reply that says nothing of the keys in front would grant a lock that others hold.
TEST(EtcdReplies, AGrantOfAPlaceWithoutTheKeysInFrontOfItIsUnknown) {
  for (const LockType type : {LockType::READ, LockType::WRITE, LockType::FAIR}) {
    const ServingEtcd server([](const FakeEtcd::Call& call) { return with_grants(call); });
    testing::Probe probe = server.connect();
    const Outcome outcome = probe.acquire("k", type, probe.fresh_id(), 5s, 5s);
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown) << to_string(type);
    EXPECT_NE(outcome.reason.find("malformed"), std::string::npos) << outcome.reason;
  }
}

// The name may be one that Go has made of the time.
TEST(EtcdReplies, AKeyOfAnotherLeaseIsNotTheOwnOne) {
  const std::string key =
      ProtobufWriter().bytes(1, "k/read/5").number(2, 7).number(6, 6).take();  // its lease is 6
  const std::string range = ProtobufWriter().message(2, key).take();
  const std::string failed = ProtobufWriter()
                                 .message(1, ProtobufWriter().number(3, 7).take())
                                 .message(3, ProtobufWriter().message(1, range).take())
                                 .take();
  const ServingEtcd server([&](const FakeEtcd::Call& call) {
    return call.path.ends_with("/Txn")
               ? etcd_wire::head(call.stream) + etcd_wire::message(call.stream, failed) +
                     etcd_wire::trailer(call.stream)
               : without_watches(call);
  });
  testing::Probe probe = server.connect();
  for (const auto wait : {0s, 5s}) {
    const Outcome outcome = probe.acquire("k", LockType::READ, probe.fresh_id(), 5s, wait);
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
    EXPECT_NE(outcome.reason.find("malformed"), std::string::npos) << outcome.reason;
  }
}

// A field that was cut off counted as the end of its message, and the fields before it granted the
// lock.
TEST(EtcdReplies, AMessageThatIsCutOffGrantsNothing) {
  const std::string header = ProtobufWriter().number(3, 7).take();
  const std::string whole = ProtobufWriter().message(1, header).number(2, 1).take();
  const std::string operation = ProtobufWriter().message(1, "\x12\x05").take();
  for (const std::string& reply :
       {whole + "\x1a\x05" + "ab", whole + "\x1a", whole + "\x18\x80", whole + "\x1b",
        ProtobufWriter().message(1, header + "\x18").number(2, 1).take(),
        whole + ProtobufWriter().message(3, operation).take()}) {
    SCOPED_TRACE(::testing::PrintToString(reply));
    const ServingEtcd server([&](const FakeEtcd::Call& call) {
      return call.path.ends_with("/Txn")
                 ? etcd_wire::head(call.stream) + etcd_wire::message(call.stream, reply) +
                       etcd_wire::trailer(call.stream)
                 : without_watches(call);
    });
    testing::Probe probe = server.connect();
    const Outcome outcome = probe.acquire("k", LockType::FENCED, probe.fresh_id(), 5s);
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
    EXPECT_NE(outcome.reason.find("malformed"), std::string::npos) << outcome.reason;
  }
}

// It confirmed a watch.
TEST(EtcdReplies, AMessageOfAWatchThatIsCutOffConfirmsNothing) {
  const std::string header = ProtobufWriter().number(3, 7).take();
  const std::string created = ProtobufWriter().number(2, 1).number(3, 1).take() + "\x5a\x05";
  const ServingEtcd server([&](const FakeEtcd::Call& call) {
    if (call.path.ends_with("/Watch")) {
      return etcd_wire::head(call.stream) + etcd_wire::message(call.stream, created);
    }
    if (!call.path.ends_with("/Put")) return without_watches(call);
    return etcd_wire::head(call.stream) +
           etcd_wire::message(call.stream, ProtobufWriter().message(1, header).take()) +
           etcd_wire::trailer(call.stream);
  });
  testing::Probe probe = server.connect();
  const Outcome outcome = probe.send(Verb::subscribe, "k");
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_FALSE(outcome.reason.empty());
}

// An empty reply ended all holds of the session, and one about another lease renewed them.
TEST(EtcdReplies, AKeepAliveThatDoesNotNameTheLeaseIsUnknown) {
  for (const std::string& reply : {std::string(), ProtobufWriter().number(3, 45).take(),
                                   ProtobufWriter().number(2, 6).number(3, 45).take()}) {
    const ServingEtcd server([&](const FakeEtcd::Call& call) {
      return call.path.ends_with("KeepAlive")
                 ? etcd_wire::head(call.stream) + etcd_wire::message(call.stream, reply) +
                       etcd_wire::trailer(call.stream)
                 : with_grants(call);
    });
    testing::Probe probe = server.connect();
    const HoldId id = probe.fresh_id();
    EXPECT_EQ(probe.acquire("k", LockType::FENCED, id, 5s).kind, Outcome::Kind::granted);
    // The grant of the lease has confirmed less than the whole session from now on.
    EXPECT_EQ(probe.renew("k", LockType::FENCED, id, 45s).kind, Outcome::Kind::unknown);
  }
}

// The number 256 was cut to 0, which is success, and of `0x` only the digit was read.
TEST(EtcdReplies, AStatusThatIsNotThatOfSuccessGrantsNothing) {
  for (const std::string status : {"256", "0x"}) {
    const ServingEtcd server(
        [&](const FakeEtcd::Call& call) { return with_grants(call, 7, status); });
    testing::Probe probe = server.connect();
    const Outcome outcome = probe.acquire("k", LockType::FENCED, probe.fresh_id(), 5s);
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown) << status;
    EXPECT_FALSE(outcome.reason.empty()) << status;
  }
}

// It was read as a transaction that had found the key deleted, so a hold that lasts was gone.
TEST(EtcdReplies, ASuccessWithoutAMessageIsUnknown) {
  int transactions = 0;  // the thread that serves counts them
  const ServingEtcd server([&](const FakeEtcd::Call& call) {
    return call.path.ends_with("/Txn") && ++transactions > 1
               ? etcd_wire::head(call.stream) + etcd_wire::trailer(call.stream)
               : with_grants(call);
  });
  testing::Probe probe = server.connect();
  const HoldId id = probe.fresh_id();
  EXPECT_EQ(probe.acquire("k", LockType::FENCED, id, 5s).kind, Outcome::Kind::granted);
  const Outcome outcome = probe.renew("k", LockType::FENCED, id, 5s);
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_NE(outcome.reason.find("malformed"), std::string::npos) << outcome.reason;
}

}  // namespace
}  // namespace latchkey::tests
