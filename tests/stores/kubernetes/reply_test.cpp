// Answers of an API server that are no success, and such as no API server gives.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace latchkey::tests {
namespace {

using testing::Probe;

class KubernetesReply : public ::testing::Test {
 protected:
  /// From now on calls of this method for Leases get this answer.
  void answer(const std::string& method, const ApiAnswer& answer) {
    server_.set_rule([=](const ApiCall& call) -> std::optional<ApiAnswer> {
      const bool is_lease = call.path.find("/leases") != std::string::npos;
      if (call.method != method || call.is_watch() || !is_lease) return {};
      return answer;
    });
  }
  Outcome acquire() { return probe_.acquire("billing", LockType::FENCED, probe_.fresh_id(), 10s); }

  ApiServer server_;
  Probe probe_ = kubernetes_probe(server_.uri(), {.command_timeout = 5s});
};

TEST_F(KubernetesReply, AMissingPermissionNamesTheRuleThatGrantsIt) {
  answer("GET", ApiServer::forbidden("get"));
  const Outcome read = acquire();
  EXPECT_EQ(read.kind, Kind::refused);
  EXPECT_EQ(read.reason,
            "the API server forbids 'system:serviceaccount:shop:bank' to get leases in the "
            "namespace 'shop'; bind it to a Role with the rule "
            R"({apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get"]})");
  answer("POST", ApiServer::forbidden("create"));
  EXPECT_NE(acquire().reason.find(R"(verbs: ["create"])"), std::string::npos);
  server_.set_rule(nullptr);
  const HoldId id = probe_.fresh_id();
  EXPECT_EQ(probe_.acquire("billing", LockType::FENCED, id, 10s).kind, Kind::granted);
  answer("PUT", ApiServer::forbidden("update"));
  const Outcome renewed = probe_.renew("billing", LockType::FENCED, id, 10s);
  EXPECT_EQ(renewed.kind, Kind::refused);
  EXPECT_NE(renewed.reason.find(R"(verbs: ["update"])"), std::string::npos) << renewed.reason;
  answer("GET", ApiServer::forbidden("list"));
  Request list;
  std::vector<std::string> names;
  list.verb = Verb::list;
  list.key = "*";
  list.names = &names;
  EXPECT_NE(probe_.send(list).reason.find(R"(verbs: ["list"])"), std::string::npos);
}

TEST_F(KubernetesReply, AnswersOfTheServerAreNamed) {
  const auto reason_of = [&](const ApiAnswer& given, Kind kind) {
    answer("POST", given);
    const Outcome outcome = acquire();
    EXPECT_EQ(outcome.kind, kind) << given.body;
    return outcome.reason;
  };
  EXPECT_EQ(
      reason_of(ApiServer::failed(404, "NotFound", "namespaces \"shop\" not found", "namespaces"),
                Kind::refused),
      "the namespace 'shop' does not exist; create it, or name another in the URI");
  EXPECT_EQ(reason_of({401, "Unauthorized", {}}, Kind::refused),
            "the API server rejects the token or the certificate of this client; check token_file, "
            "or tls_cert");
  EXPECT_EQ(reason_of(ApiServer::failed(403, "Forbidden",
                                        "unable to create new content in namespace shop because "
                                        "it is being terminated"),
                      Kind::refused),
            "the API server says: unable to create new content in namespace shop because it is "
            "being terminated (HTTP status 403)");
  EXPECT_EQ(
      reason_of(ApiServer::failed(422, "Invalid", "Lease \"billing\" is invalid"), Kind::refused),
      "the API server says: Lease \"billing\" is invalid (HTTP status 422)");
  EXPECT_EQ(reason_of(ApiServer::failed(500, "InternalError", "etcdserver: leader changed"),
                      Kind::unknown),
            "the API server says: etcdserver: leader changed (HTTP status 500)");
  EXPECT_EQ(reason_of({502, "<html>bad gateway</html>", {}}, Kind::unknown),
            "the server, or a proxy in front of it, does not answer as the API server of "
            "Kubernetes does (HTTP status 502)");
}

TEST_F(KubernetesReply, AWriteWithoutAKnownResultMayHaveRun) {
  answer("POST", ApiServer::failed(504, "Timeout", "request timed out"));
  EXPECT_FALSE(acquire().never_ran);
  answer("GET", ApiServer::failed(504, "Timeout", "request timed out"));
  EXPECT_TRUE(acquire().never_ran);
}

TEST_F(KubernetesReply, MalformedRepliesAreNamedAndEndNothing) {
  const std::string other = R"({"kind":"Lease","metadata":{"name":"other","resourceVersion":"7"}})";
  const std::string taken =
      R"({"kind":"Lease","metadata":{"name":"billing","resourceVersion":"7"},)"
      R"("spec":{"holderIdentity":"you"}})";
  for (const std::string& body : {std::string(), std::string("{"), std::string("[]"), other,
                                  std::string(R"({"metadata":{"name":"billing"}})")}) {
    answer("GET", {200, body, {}});
    const Outcome outcome = acquire();
    EXPECT_EQ(outcome.kind, Kind::unknown) << body;
    EXPECT_TRUE(outcome.never_ran);
    EXPECT_TRUE(outcome.reason.starts_with("malformed reply: ")) << outcome.reason;
  }
  for (const std::string& body : {std::string("7"), other, taken}) {
    answer("POST", {201, body, {}});
    const Outcome outcome = acquire();
    EXPECT_EQ(outcome.kind, Kind::unknown) << body;
    EXPECT_FALSE(outcome.never_ran) << "the Lease may have been made";
  }
  server_.set_rule(nullptr);
  EXPECT_EQ(acquire().kind, Kind::granted) << "the connection lives";
}

TEST_F(KubernetesReply, AnOverloadedServerIsAskedAgainAfterItsPause) {
  std::atomic<int> refused{0};
  server_.set_rule([&](const ApiCall& call) -> std::optional<ApiAnswer> {
    if (call.method != "POST" || refused++ > 0) return {};
    ApiAnswer busy = ApiServer::failed(429, "TooManyRequests", "please try again later");
    busy.retry_after = "1";
    return busy;
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(acquire().kind, Kind::granted);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_EQ(refused, 2);
}

TEST_F(KubernetesReply, APauseLongerThanTheTimeoutIsAnOutcome) {
  ApiAnswer busy = ApiServer::failed(429, "TooManyRequests", "please try again later");
  busy.retry_after = "30";
  answer("GET", busy);
  const Outcome outcome = acquire();
  EXPECT_EQ(outcome.kind, Kind::unknown);
  EXPECT_TRUE(outcome.never_ran);
  EXPECT_EQ(outcome.reason, "the API server is overloaded, and asks to try again later");
}

TEST_F(KubernetesReply, ConflictsAreReadAgainAndThenAnOutcome) {
  std::atomic<int> conflicts{0};
  server_.set_rule([&](const ApiCall& call) -> std::optional<ApiAnswer> {
    if (call.method != "PUT" || ++conflicts > 20) return {};
    return ApiServer::failed(409, "Conflict", "the object has been modified", "leases");
  });
  const HoldId id = probe_.fresh_id();
  EXPECT_EQ(probe_.acquire("billing", LockType::FENCED, id, 10s).kind, Kind::granted);
  EXPECT_EQ(probe_.renew("billing", LockType::FENCED, id, 10s).kind, Kind::granted);
  EXPECT_EQ(conflicts, 21);
  conflicts = -1'000;  // each one from now on
  const Outcome storm = probe_.renew("billing", LockType::FENCED, id, 10s);
  EXPECT_EQ(storm.kind, Kind::unknown);
  EXPECT_EQ(storm.reason, "other clients change the Lease again and again");
}

TEST_F(KubernetesReply, ALeaseThatVanishesBetweenReadAndWriteIsMadeAnew) {
  server_.write("billing", spec_of("", 1));
  server_.set_rule([&](const ApiCall& call) -> std::optional<ApiAnswer> {
    if (call.method != "PUT") return {};
    return ApiServer::failed(404, "NotFound", "leases \"billing\" not found", "leases");
  });
  const Outcome outcome = acquire();
  EXPECT_EQ(outcome.kind, Kind::unknown) << "the server contradicts itself";
  server_.set_rule(nullptr);
  server_.remove("billing");
  EXPECT_EQ(acquire().kind, Kind::granted);
}

TEST_F(KubernetesReply, AnAnswerThatNeverComesEndsWithTheTimeout) {
  Probe probe = kubernetes_probe(server_.uri(), {.command_timeout = 300ms});
  answer("GET", {0, {}, {}});
  const Outcome outcome = probe.acquire("billing", LockType::FENCED, probe.fresh_id(), 10s);
  EXPECT_EQ(outcome.kind, Kind::unknown);
  EXPECT_NE(outcome.reason.find("no answer for 300 ms"), std::string::npos) << outcome.reason;
}

TEST_F(KubernetesReply, ANameThatIsTooLongAndTransitionsThatCannotRiseAreRefused) {
  const std::string key(254, 'a');
  const Outcome outcome = probe_.acquire(key, LockType::FENCED, probe_.fresh_id(), 10s);
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_NE(outcome.reason.find("of 254 characters; at most 253 are possible"), std::string::npos);
  server_.write("full", spec_of("", 1, 2'147'483'647));
  const Outcome full = probe_.acquire("full", LockType::FENCED, probe_.fresh_id(), 10s);
  EXPECT_EQ(full.kind, Kind::refused);
  EXPECT_NE(full.reason.find("delete it once nobody holds it"), std::string::npos) << full.reason;
}

}  // namespace
}  // namespace latchkey::tests
