// The first connection: tokens, refusals, and servers that are none.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <latchkey/error.hpp>

#include "fixture.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

class KubernetesStart : public ::testing::Test {
 protected:
  /// As the kubelet does, another file takes the place of the old one.
  void put_token(const std::string& token) {
    std::ofstream(folder_.file("new")) << token << '\n';
    std::filesystem::rename(folder_.file("new"), folder_.file("token"));
  }
  [[nodiscard]] std::string uri() const {
    return server_.uri("&token_file=" + folder_.file("token"));
  }
  /// From now on the server accepts this token alone.
  void accept(const std::string& token) {
    server_.set_rule([=](const ApiCall& call) -> std::optional<ApiAnswer> {
      if (call.token == "Bearer " + token) return {};
      return ApiServer::failed(401, "Unauthorized", "Unauthorized");
    });
  }

  TemporaryFolder folder_;
  ApiServer server_;
};

TEST_F(KubernetesStart, ARotatedTokenIsReadAgain) {
  put_token("first");
  accept("first");
  testing::Probe probe = kubernetes_probe(uri());
  const HoldId id = probe.fresh_id();
  EXPECT_EQ(probe.acquire("billing", LockType::FENCED, id, 30s).kind, Kind::granted);
  accept("second");
  const Outcome rejected = probe.renew("billing", LockType::FENCED, id, 30s);
  EXPECT_EQ(rejected.kind, Kind::refused);
  EXPECT_NE(rejected.reason.find("token_file"), std::string::npos) << rejected.reason;
  put_token("second");
  EXPECT_EQ(probe.renew("billing", LockType::FENCED, id, 30s).kind, Kind::granted);
}

TEST_F(KubernetesStart, AWrongTokenIsRefusedAtTheStart) {
  put_token("wrong");
  accept("right");
  const std::string text = kubernetes_refusal(uri());
  EXPECT_NE(text.find("the API server rejects the token"), std::string::npos) << text;
}

TEST_F(KubernetesStart, ATokenFileWithoutATokenIsNamed) {
  const std::string missing = kubernetes_refusal(uri());
  EXPECT_NE(missing.find("'token_file'"), std::string::npos) << missing;
  EXPECT_NE(missing.find("there is no token in it"), std::string::npos) << missing;
  put_token("two\nlines");
  EXPECT_NE(kubernetes_refusal(uri()).find("no token in it"), std::string::npos);
}

TEST_F(KubernetesStart, AServerWithoutTheApiIsNamed) {
  server_.set_rule([](const ApiCall&) -> std::optional<ApiAnswer> {
    return ApiServer::failed(404, "NotFound", "the server could not find the requested resource");
  });
  EXPECT_NE(kubernetes_refusal(server_.uri()).find("expected Kubernetes 1.14 or later"),
            std::string::npos);
  server_.set_rule([](const ApiCall&) -> std::optional<ApiAnswer> {
    return ApiAnswer{404, "<html>not found</html>", {}};
  });
  EXPECT_NE(kubernetes_refusal(server_.uri()).find("HTTP status 404"), std::string::npos);
}

TEST_F(KubernetesStart, AnUnknownClientIsToldWhatIsMissing) {
  server_.set_rule([](const ApiCall&) -> std::optional<ApiAnswer> {
    return ApiServer::failed(403, "Forbidden", "User \"system:anonymous\" cannot get path");
  });
  EXPECT_NE(kubernetes_refusal(server_.uri()).find("expected token_file, or tls_cert"),
            std::string::npos);
}

TEST_F(KubernetesStart, WhereNothingListensTheAddressIsNamed) {
  server_.go_down();
  const std::string text = kubernetes_refusal(server_.uri());
  EXPECT_NE(text.find("127.0.0.1:" + std::to_string(server_.port())), std::string::npos) << text;
  EXPECT_NE(text.find("nothing listens there"), std::string::npos) << text;
}

TEST_F(KubernetesStart, AServerThatIsDownMayComeLater) {
  server_.go_down();
  const Locks locks = kubernetes_locks(server_.uri(), {.startup = Startup::allow_down});
  EXPECT_THROW(static_cast<void>(locks.lock("billing").try_acquire(0s, 10s)), BackendUnavailable);
  server_.come_back();
  EXPECT_TRUE(eventually([&] {
    try {
      return locks.lock("billing").try_acquire(1s, 10s).has_value();
    } catch (const BackendUnavailable&) {
      return false;
    }
  }));
}

}  // namespace
}  // namespace latchkey::tests
