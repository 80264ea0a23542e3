// TLS: which certificates are accepted, on both sides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/inheritable_sockets.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"
#include "support/servers/scripted_server.hpp"
#include "support/servers/tls_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RedisTls : public ::testing::Test {
 protected:
  [[nodiscard]] std::string uri(const std::string& host, const std::string& options) const {
    return "rediss://" + host + ":" + std::to_string(server_.tls_port()) +
           "?tls_ca=" + server_.certificates().authority + options;
  }
  [[nodiscard]] std::string with_client() const {
    return "&tls_cert=" + server_.certificates().client +
           "&tls_key=" + server_.certificates().client_key;
  }
  template <class Thrown = BackendRefused>
  static std::string refusal_of(const std::string& uri) {
    try {
      const Locks locks = Locks::connect(uri);
      // With TLS 1.3 a client without a certificate is refused when it reads for the first time.
      return "connected";
    } catch (const Thrown& error) {
      return error.what();
    }
  }

  RedisServer server_{{.config = {"tls-auth-clients optional"}, .tls = true}};
};

TEST_F(RedisTls, LocksAndWaitsWork) {
  const Locks locks = Locks::connect(uri("localhost", ""));
  std::vector<std::thread> threads;
  int inside = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        const auto hold = locks.lock("k").acquire(10s);
        ++inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inside, 100);
}

TEST_F(RedisTls, ACertificateMayBeForAnAddress) {
  const Locks locks = Locks::connect(uri("127.0.0.1", ""));
  EXPECT_TRUE(locks.lock("k").try_acquire().has_value());
}

TEST_F(RedisTls, ACertificateOfAnotherAuthorityIsRejected) {
  const std::string said = refusal_of("rediss://localhost:" + std::to_string(server_.tls_port()) +
                                      "?tls_ca=" + server_.certificates().other_authority);
  EXPECT_THAT(said, HasSubstr("the certificate of the server 'localhost' is not to be trusted"));
}

TEST_F(RedisTls, ACertificateUnknownToTheSystemIsRejected) {
  const std::string said = refusal_of("rediss://localhost:" + std::to_string(server_.tls_port()));
  EXPECT_THAT(said, HasSubstr("is not to be trusted"));
}

TEST_F(RedisTls, ACertificateForAnotherNameIsRejected) {
  const std::string said = refusal_of(uri("localhost", "&tls_server_name=redis.example.org"));
  EXPECT_THAT(said, AllOf(HasSubstr("'redis.example.org' is not to be trusted"),
                          HasSubstr("hostname mismatch")));
}

TEST_F(RedisTls, ACertificateForAnotherAddressIsRejected) {
  const std::string said = refusal_of(uri("localhost", "&tls_server_name=127.0.0.2"));
  EXPECT_THAT(said, HasSubstr("IP address mismatch"));
}

// Redis before 8 waits for the end of the line. Redis 8 finds one in most greetings, whose key
// shares are random, and answers that there is no such command.
TEST_F(RedisTls, TlsToAPlainPortIsReported) {
  const std::string plain_port = "rediss://localhost:" + std::to_string(server_.port());
  std::string said;
  EXPECT_TRUE(eventually([&] {  // on a busy machine the call's own timeout may come first
    said = refusal_of<BackendUnavailable>(plain_port);
    return said.find("no TLS") != std::string::npos;
  }));
  EXPECT_THAT(said, AnyOf(HasSubstr("no TLS with this server: no answer within 2000 ms"),
                          HasSubstr("no TLS with this server: the server answered without TLS (")));
}

TEST_F(RedisTls, AServerThatAnswersWithoutTlsIsReportedOnce) {
  const ScriptedServer plain([](std::string& /*received*/, std::string& to_send) {
    to_send = "-ERR unknown command\r\n";
  });
  const std::string said = refusal_of<BackendUnavailable>("rediss://" + plain.address());
  EXPECT_THAT(said, HasSubstr("no TLS with this server: the server answered without TLS (is it"));
  EXPECT_EQ(said.find("no TLS"), said.rfind("no TLS")) << said;
}

TEST_F(RedisTls, AServerThatDoesNotAnswerTlsIsReported) {
  const ScriptedServer silent([](std::string& /*received*/, std::string& /*to_send*/) {});
  EXPECT_THAT(refusal_of<BackendUnavailable>("rediss://" + silent.address()),
              HasSubstr("no TLS with this server: no answer within 2000 ms"));
}

TEST_F(RedisTls, PlainTextToATlsPortIsReported) {
  const std::string said =
      refusal_of<LockError>("redis://localhost:" + std::to_string(server_.tls_port()));
  EXPECT_THAT(said, AllOf(HasSubstr("redis://localhost"), HasSubstr("edis")));
  EXPECT_NE(said, "connected");
}

TEST_F(RedisTls, UnusableFilesAreNamed) {
  const auto said = [&](const std::string& text) {
    return refusal_of<std::invalid_argument>(text);
  };
  EXPECT_THAT(said("rediss://localhost?tls_ca=/nowhere.pem"),
              HasSubstr("the option 'tls_ca' of the Redis URI names '/nowhere.pem'"));
  EXPECT_THAT(said(uri("localhost", "&tls_cert=/nowhere.pem&tls_key=/nowhere.pem")),
              HasSubstr("the option 'tls_cert'"));
  EXPECT_THAT(said(uri("localhost", "&tls_cert=" + server_.certificates().client +
                                        "&tls_key=" + server_.certificates().server_key)),
              HasSubstr("the option 'tls_key'"));
}

class RedisTlsBothWays : public RedisTls {
 protected:
  RedisTlsBothWays() {
    auto client = server_.client();
    EXPECT_FALSE(client({"CONFIG", "SET", "tls-auth-clients", "yes"}).is_error());
  }
};

TEST_F(RedisTlsBothWays, AClientWithACertificateIsAccepted) {
  const Locks locks = Locks::connect(uri("localhost", with_client()));
  EXPECT_TRUE(locks.lock("k").try_acquire().has_value());
}

TEST_F(RedisTlsBothWays, AClientWithoutACertificateIsRefused) {
  EXPECT_THAT(refusal_of<LockError>(uri("localhost", "")), HasSubstr("certificate required"));
}

TEST_F(RedisTls, ARestartedServerIsConnectedAgain) {
  const Locks locks = Locks::connect(uri("localhost", ""));
  ASSERT_TRUE(locks.lock("a").try_acquire().has_value());
  server_.kill();
  server_.start();
  EXPECT_NO_THROW(static_cast<void>(locks.lock("b").acquire(10s)));
}

TEST_F(RedisTls, AnOlderTlsThan12IsRejected) {
  const TlsServer old(server_.certificates(), {"-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"});
  const std::string said =
      refusal_of<LockError>("rediss://localhost:" + std::to_string(old.port()) +
                            "?tls_ca=" + server_.certificates().authority);
  EXPECT_THAT(said, AllOf(HasSubstr("protocol"), Not(HasSubstr("redis: is without"))));
}

TEST_F(RedisTls, NoProgramInheritsAConnection) {
  const Locks secure = Locks::connect(uri("localhost", ""));
  const Locks plain = Locks::connect(server_.tcp_uri());
  const Locks local = Locks::connect(server_.unix_uri());
  for (const Locks* const locks : {&secure, &plain, &local}) {
    EXPECT_TRUE(locks->lock("k").try_acquire().has_value());
  }
  EXPECT_THAT(inheritable_sockets(), IsEmpty());
}

// The files were read once, when the Locks were made: after the authority had changed, the process
// was refused for ever, and its holds were lost.
TEST_F(RedisTlsBothWays, RenewedCertificatesAreReadForTheNextConnection) {
  auto client = server_.client();
  ASSERT_FALSE(client({"CONFIG", "REWRITE"}).is_error());
  const Locks locks = Locks::connect(uri("localhost", with_client()));
  ASSERT_TRUE(locks.lock("a").try_acquire().has_value());
  server_.kill();
  server_.certificates().renew();
  server_.start();
  EXPECT_NO_THROW(static_cast<void>(locks.lock("b").acquire(10s)));
}

TEST_F(RedisTls, AnAuthorityThatIsNoLongerTrustedIsNoReasonToDoWithoutTls) {
  const std::string trusted = server_.folder() / "trusted.pem";
  std::filesystem::copy_file(server_.certificates().authority, trusted);
  const Locks locks = Locks::connect("rediss://localhost:" + std::to_string(server_.tls_port()) +
                                     "?tls_ca=" + trusted);
  ASSERT_TRUE(locks.lock("a").try_acquire().has_value());
  server_.kill();
  server_.certificates().renew();
  server_.start();
  std::string said;
  try {
    static_cast<void>(locks.lock("b").acquire(2s));
  } catch (const LockError& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr("is not to be trusted"));
  EXPECT_THAT(said, Not(HasSubstr("redis: is without")));
  std::filesystem::rename(server_.certificates().authority, trusted);
  EXPECT_TRUE(eventually([&] {  // calls are refused until the next attempt to connect
    try {
      return locks.lock("b").try_acquire(2s).has_value();
    } catch (const LockError&) {
      return false;
    }
  }));
}

}  // namespace
}  // namespace latchkey::tests
