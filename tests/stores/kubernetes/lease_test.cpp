// Leases, their times, lists and watches as JSON.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "stores/kubernetes/lease.hpp"

namespace latchkey {
namespace {

using namespace detail::kubernetes;

const std::string whole =
    R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"billing",)"
    R"("resourceVersion":"17","labels":{"team":"shop"}},"spec":{"holderIdentity":"web-3",)"
    R"("leaseDurationSeconds":15,"leaseTransitions":4,"acquireTime":"2026-11-30T13:00:00.000001Z",)"
    R"("renewTime":"2026-11-30T13:08:39.123456Z","strategy":"OldestEmulationVersion"}})";

TEST(KubernetesLease, AllFieldsAreRead) {
  std::string why;
  const auto lease = read_lease(whole, why);
  ASSERT_TRUE(lease) << why;
  EXPECT_EQ(lease->name, "billing");
  EXPECT_EQ(lease->version, "17");
  EXPECT_EQ(lease->record, (LeaseRecord{"web-3", 15, 4, "2026-11-30T13:00:00.000001Z",
                                        "2026-11-30T13:08:39.123456Z"}));
}

TEST(KubernetesLease, AChangeKeepsWhatOthersHaveWritten) {
  std::string why;
  const auto lease = read_lease(whole, why);
  ASSERT_TRUE(lease);
  const auto json = nlohmann::json::parse(changed_lease(*lease, {"me", 30, 5, "then", "now"}));
  EXPECT_EQ(json["metadata"]["labels"]["team"], "shop");
  EXPECT_EQ(json["metadata"]["resourceVersion"], "17");
  EXPECT_EQ(json["spec"]["strategy"], "OldestEmulationVersion");
  EXPECT_EQ(json["spec"]["holderIdentity"], "me");
  EXPECT_EQ(json["spec"]["leaseDurationSeconds"], 30);
  EXPECT_EQ(json["spec"]["leaseTransitions"], 5);
}

TEST(KubernetesLease, ANewOneSaysWhoManagesIt) {
  const auto json = nlohmann::json::parse(new_lease("billing", "shop", {"me", 30, 1, "t", "t"}));
  EXPECT_EQ(json["kind"], "Lease");
  EXPECT_EQ(json["metadata"]["namespace"], "shop");
  EXPECT_EQ(json["metadata"]["labels"]["app.kubernetes.io/managed-by"], "latchkey");
  EXPECT_FALSE(json["metadata"].contains("resourceVersion"));
}

TEST(KubernetesLease, WhatIsNoLeaseIsNamed) {
  const auto with = [](const std::string& field, const std::string& value) {
    auto json = nlohmann::json::parse(whole);
    json["spec"][field] = nlohmann::json::parse(value);
    return json.dump();
  };
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string("{"),
        std::string("<html>"), std::string(R"({"metadata":7})"), std::string(R"({"metadata":{}})"),
        std::string(R"({"metadata":{"name":"a","resourceVersion":7}})"),
        std::string(R"({"metadata":{"name":"a","resourceVersion":"7"},"spec":[]})"),
        with("holderIdentity", "7"), with("leaseDurationSeconds", "\"15\""),
        with("leaseDurationSeconds", "-1"), with("leaseDurationSeconds", "2147483648"),
        with("leaseTransitions", "18446744073709551615"), with("leaseTransitions", "1.5"),
        with("renewTime", "{}"), std::string(100'000, '[')}) {
    std::string why;
    EXPECT_FALSE(read_lease(text, why)) << text.substr(0, 200);
    EXPECT_TRUE(why.starts_with("malformed reply: ")) << why;
  }
  std::string why;
  const auto bare = read_lease(R"({"metadata":{"name":"a","resourceVersion":"7"}})", why);
  ASSERT_TRUE(bare) << why;
  EXPECT_EQ(bare->record, LeaseRecord());
}

TEST(KubernetesLease, TimesAreThoseOfTheApi) {
  for (const std::string text : {"2026-11-30T13:08:39.123456Z", "1970-01-01T00:00:00.000000Z",
                                 "2024-02-29T23:59:59.999999Z"}) {
    const auto time = wall_time_of(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(text_of(*time), text);
  }
  EXPECT_EQ(wall_time_of("2026-11-30T13:08:39Z"), wall_time_of("2026-11-30T13:08:39.000000Z"));
  EXPECT_EQ(wall_time_of("2026-11-30T13:08:39.5Z"), wall_time_of("2026-11-30T13:08:39.500000Z"));
  for (const char* const text :
       {"", "Z", "now", "2026-11-30", "2026-11-30T13:08:39", "2026-11-30 13:08:39Z",
        "2026-13-30T13:08:39Z", "2026-11-31T13:08:39Z", "2026-11-30T13:08:39.Zx",
        "2026-11-30T13:08:39+01:00", "2026-11--1T13:08:39Z", "2026-11-30T13:08:39.1x3Z"}) {
    EXPECT_FALSE(wall_time_of(text)) << text;
  }
}

TEST(KubernetesLease, EventsOfAWatchAreRead) {
  const auto event = [](const std::string& type, const std::string& object) {
    std::string why;
    return read_event(R"({"type":")" + type + R"(","object":)" + object + "}", why);
  };
  using Event = WatchEvent::Kind;
  EXPECT_EQ(event("ADDED", whole)->kind, Event::changed);
  EXPECT_EQ(event("MODIFIED", whole)->lease.record.holder, "web-3");
  EXPECT_EQ(event("DELETED", whole)->kind, Event::deleted);
  EXPECT_EQ(event("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})")->kind, Event::other);
  const auto failed = event("ERROR", R"({"kind":"Status","code":410,"message":"too old"})");
  EXPECT_EQ(failed->kind, Event::failed);
  EXPECT_EQ(failed->reason, "too old");
  EXPECT_FALSE(event("ADDED", "7"));
  EXPECT_FALSE(event("MODIFIED", R"({"metadata":{}})"));
}

TEST(KubernetesLease, ListsHaveParts) {
  std::string why;
  const auto list = read_list(
      R"({"kind":"LeaseList","metadata":{"continue":"abc"},"items":[)" + whole + "]}", why);
  ASSERT_TRUE(list) << why;
  EXPECT_EQ(list->next, "abc");
  ASSERT_EQ(list->leases.size(), 1U);
  EXPECT_FALSE(read_list(R"({"kind":"PodList","metadata":{},"items":[]})", why));
  EXPECT_FALSE(read_list(R"({"kind":"LeaseList","metadata":{},"items":[7]})", why));
  EXPECT_TRUE(read_list(R"({"kind":"LeaseList","metadata":{},"items":null})", why));
}

}  // namespace
}  // namespace latchkey
