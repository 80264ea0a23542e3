// Waiters and holders that the watch tells of changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace latchkey::tests {
namespace {

using testing::Probe;

class KubernetesWatch : public ::testing::Test {
 protected:
  /// Whether a notification of this kind arrives.
  static bool hears(Probe& probe, Notification::Kind kind, const std::string& key = "billing") {
    return eventually([&] {
      const auto notes = probe.notes(100ms);
      return std::ranges::any_of(
          notes, [&](const Probe::Note& note) { return note.kind == kind && note.key == key; });
    });
  }
  /// Answers each watch so, while there is an answer.
  void answer_watches(const ApiAnswer& answer) {
    server_.set_rule([=](const ApiCall& call) -> std::optional<ApiAnswer> {
      if (!call.is_watch()) return {};
      return answer;
    });
  }
  void hold(Probe& probe, const HoldId& id) {
    ASSERT_EQ(probe.acquire("billing", LockType::FENCED, id, 60s).kind, Kind::granted);
    Request renew;
    renew.verb = Verb::renew;
    renew.type = LockType::FENCED;
    renew.key = "billing";
    renew.id = id;
    renew.lease = 60s;
    renew.watch = true;
    ASSERT_EQ(probe.send(renew).kind, Kind::granted);
  }

  ApiServer server_;
};

TEST_F(KubernetesWatch, AWaiterHearsOfAReleaseAndOfADeletion) {
  Probe probe = kubernetes_probe(server_.uri());
  server_.write("billing", spec_of("you", 60));
  ASSERT_EQ(probe.send(Verb::subscribe, "billing").kind, Kind::granted);
  static_cast<void>(probe.notes(100ms));
  server_.write("billing", spec_of("you", 60));
  EXPECT_TRUE(probe.notes(100ms).empty()) << "a renewal is no release";
  server_.write("billing", spec_of("", 1));
  EXPECT_TRUE(hears(probe, Notification::Kind::released));
  server_.write("billing", spec_of("you", 60));
  server_.remove("billing");
  EXPECT_TRUE(hears(probe, Notification::Kind::released));
  ASSERT_EQ(probe.send(Verb::unsubscribe, "billing").kind, Kind::granted);
  server_.write("billing", spec_of("", 1));
  EXPECT_TRUE(probe.notes(100ms).empty());
}

TEST_F(KubernetesWatch, AHolderHearsThatItsLeaseWasTaken) {
  Probe probe = kubernetes_probe(server_.uri());
  const HoldId id = probe.fresh_id();
  hold(probe, id);
  static_cast<void>(probe.notes(100ms));
  server_.write("billing", spec_of("you", 60));
  EXPECT_TRUE(hears(probe, Notification::Kind::changed));
  EXPECT_EQ(probe.send(Verb::verify, "billing", LockType::FENCED, id).kind, Kind::gone);
  EXPECT_EQ(probe.renew("billing", LockType::FENCED, id, 60s).kind, Kind::gone);
}

TEST_F(KubernetesWatch, AHolderHearsThatItsLeaseWasDeleted) {
  Probe probe = kubernetes_probe(server_.uri());
  const HoldId id = probe.fresh_id();
  hold(probe, id);
  server_.remove("billing");
  EXPECT_TRUE(hears(probe, Notification::Kind::changed));
  EXPECT_EQ(probe.renew("billing", LockType::FENCED, id, 60s).kind, Kind::gone);
}

// Each end of a watch is followed by another one, which begins with the Leases as they are.
TEST_F(KubernetesWatch, AWatchThatEndsIsOpenedAgain) {
  Probe probe = kubernetes_probe(server_.uri());
  server_.write("billing", spec_of("you", 60));
  ASSERT_EQ(probe.send(Verb::subscribe, "billing").kind, Kind::granted);
  int watches = server_.watches();
  const std::vector<std::string> ends{
      "", R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})",
      "this is no JSON", R"({"type":"MODIFIED","object":{"metadata":{}}})"};
  for (const std::string& line : ends) {
    SCOPED_TRACE(line);
    static_cast<void>(probe.notes());
    server_.end_watches(line);
    server_.write("billing", spec_of("", 1));
    EXPECT_TRUE(hears(probe, Notification::Kind::released));
    server_.write("billing", spec_of("you", 60));
    EXPECT_TRUE(eventually([&] {
      static_cast<void>(probe.notes(20ms));
      return server_.watches() > watches;
    }));
    watches = server_.watches();
  }
}

TEST_F(KubernetesWatch, AWatchThatIsTooOldIsTriedAgain) {
  answer_watches(ApiServer::failed(410, "Expired", "too old resource version"));
  Probe probe = kubernetes_probe(server_.uri());
  server_.write("billing", spec_of("you", 60));
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(probe.notes(20ms));
    return server_.watches() > 1;
  }));
  server_.set_rule(nullptr);
  EXPECT_EQ(probe.send(Verb::subscribe, "billing").kind, Kind::granted);
  server_.write("billing", spec_of("", 1));
  EXPECT_TRUE(hears(probe, Notification::Kind::released));
}

TEST_F(KubernetesWatch, WithoutThePermissionWaitersPoll) {
  answer_watches(ApiServer::forbidden("watch"));
  Probe probe = kubernetes_probe(server_.uri());
  server_.write("billing", spec_of("you", 60));
  EXPECT_EQ(probe.send(Verb::subscribe, "billing").kind, Kind::granted);
  const Outcome busy = probe.acquire("billing", LockType::FENCED, probe.fresh_id(), 10s);
  EXPECT_EQ(busy.kind, Kind::busy);
  ASSERT_TRUE(busy.retry_after);
  EXPECT_LE(*busy.retry_after, 2s);
  const std::string warning = probe.backend().warning();
  EXPECT_TRUE(warning.starts_with("its waiters ask every 2 s")) << warning;
  EXPECT_NE(warning.find(R"(verbs: ["watch"])"), std::string::npos) << warning;
  const Locks locks = kubernetes_locks(server_.uri());
  server_.write("billing", spec_of("", 1));
  EXPECT_TRUE(locks.lock("billing", LockType::FENCED).try_acquire(10s, 10s));
}

TEST_F(KubernetesWatch, BusySaysHowLongTheLeaseLastsAsItWasSeen) {
  Probe probe = kubernetes_probe(server_.uri());
  ASSERT_EQ(probe.send(Verb::subscribe, "other").kind, Kind::granted) << "the watch is open";
  server_.write("billing", spec_of("you", 60));
  const Outcome busy = probe.acquire("billing", LockType::FENCED, probe.fresh_id(), 10s);
  EXPECT_EQ(busy.kind, Kind::busy);
  EXPECT_EQ(busy.holder, "you");
  EXPECT_TRUE(busy.holder_is_foreign);
  ASSERT_TRUE(busy.retry_after);
  EXPECT_GT(*busy.retry_after, 50s) << "though its renewTime is of another day";
  EXPECT_LE(*busy.retry_after, 60s);
}

// A renewal goes out without a read before it.
TEST_F(KubernetesWatch, AHolderRenewsWithOneRequest) {
  Probe probe = kubernetes_probe(server_.uri());
  const HoldId id = probe.fresh_id();
  ASSERT_EQ(probe.acquire("billing", LockType::FENCED, id, 10s).kind, Kind::granted);
  const int reads = server_.calls("GET"), writes = server_.calls("PUT");
  for (int each = 0; each < 3; ++each) {
    EXPECT_EQ(probe.renew("billing", LockType::FENCED, id, 10s).kind, Kind::granted);
  }
  EXPECT_EQ(probe.send(Verb::release, "billing", LockType::FENCED, id).kind, Kind::granted);
  EXPECT_EQ(server_.calls("GET"), reads);
  EXPECT_EQ(server_.calls("PUT"), writes + 4);
}

}  // namespace
}  // namespace latchkey::tests
