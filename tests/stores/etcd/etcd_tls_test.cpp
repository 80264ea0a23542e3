// etcds://: TLS with certificates of both sides.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"
#include "support/inheritable_sockets.hpp"
#include "support/servers/tls_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class EtcdTls : public ::testing::Test {
 protected:
  [[nodiscard]] std::string uri(const std::string& authority, const std::string& host) const {
    const Certificates& files = server_.certificates();
    return "etcds://" + host + ':' + std::to_string(server_.port()) + "/?tls_ca=" + authority +
           "&tls_cert=" + files.client + "&tls_key=" + files.client_key;
  }

  EtcdServer server_{EtcdServer::Tls::on};
};

TEST_F(EtcdTls, LocksPassBetweenConnectionsWithCertificates) {
  const std::string& authority = server_.certificates().authority;
  Locks one = etcd_locks(uri(authority, "127.0.0.1"));
  Locks other = etcd_locks(uri(authority, "localhost"));
  Hold hold = one.lock("key").acquire(1s, 5s);
  EXPECT_FALSE(other.lock("key").try_acquire(100ms, 5s));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(other.lock("key").try_acquire(5s, 5s));
  std::vector<Hold> many;
  for (int number = 0; number < 20; ++number) {
    many.push_back(one.lock(std::to_string(number) + std::string(1'000, 'x')).acquire(1s, 5s));
  }
  EXPECT_EQ(other.list("*").size(), many.size()) << "a reply of more than one record of TLS";
}

TEST_F(EtcdTls, WhatIsWrongIsNamed) {
  const Certificates& files = server_.certificates();
  const std::string stranger = etcd_refusal(uri(files.other_authority, "127.0.0.1"));
  EXPECT_NE(stranger.find("the certificate of '127.0.0.1' is not to be trusted"), std::string::npos)
      << stranger;
  const std::string plain = etcd_refusal("etcd://" + server_.address());
  EXPECT_NE(plain.find("only with TLS (etcds://)"), std::string::npos) << plain;
  const std::string missing = etcd_refusal(uri("/nowhere.pem", "127.0.0.1"));
  EXPECT_NE(missing.find("'tls_ca' of the etcd URI names '/nowhere.pem'"), std::string::npos)
      << missing;
  const std::string anonymous =
      etcd_refusal("etcds://" + server_.address() + "/?tls_ca=" + files.authority);
  EXPECT_NE(anonymous.find("TLS"), std::string::npos) << anonymous;
  const EtcdServer without;
  const std::string no_tls = etcd_refusal("etcds://" + without.address());
  EXPECT_NE(no_tls.find("etcd:// is without TLS"), std::string::npos) << no_tls;
}

TEST_F(EtcdTls, ACertificateForAnotherNameIsRejected) {
  const std::filesystem::path folder = server_.folder() / "other";
  std::filesystem::create_directory(folder);
  const Certificates files(folder, "DNS:other.example.org,IP:127.0.0.9");
  const TlsServer other(files, {});
  const std::string port = std::to_string(other.port()), rest = "/?tls_ca=" + files.authority;
  const std::string name = etcd_refusal("etcds://localhost:" + port + rest);
  EXPECT_NE(name.find("hostname mismatch"), std::string::npos) << name;
  const std::string address = etcd_refusal("etcds://127.0.0.1:" + port + rest);
  EXPECT_NE(address.find("IP address mismatch"), std::string::npos) << address;
}

TEST_F(EtcdTls, AnOlderTlsThan12IsRejected) {
  const Certificates& files = server_.certificates();
  const TlsServer old(files, {"-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"});
  const std::string why = etcd_refusal("etcds://127.0.0.1:" + std::to_string(old.port()) +
                                       "/?tls_ca=" + files.authority);
  EXPECT_NE(why.find("protocol"), std::string::npos) << why;
  EXPECT_EQ(why.find("etcd:// is without TLS"), std::string::npos) << why;
}

TEST_F(EtcdTls, NoProgramInheritsAConnection) {
  const Locks locks = etcd_locks(uri(server_.certificates().authority, "localhost"));
  EXPECT_TRUE(locks.lock("key").try_acquire(1s, 5s));
  EXPECT_EQ(inheritable_sockets(), std::vector<int>());
}

// The files were read once, when the Locks were made: after the authority had changed, the process
// was refused for ever, and its holds were lost.
TEST_F(EtcdTls, RenewedCertificatesAreReadForTheNextConnection) {
  const Certificates& files = server_.certificates();
  const Locks locks = etcd_locks(uri(files.authority, "127.0.0.1"));
  Hold hold = locks.lock("key").acquire(1s, 30s);
  server_.kill();
  files.renew();
  server_.start();
  // The first call may get the error of a connection that began before the server listened.
  EXPECT_TRUE(eventually([&] {
    try {
      return hold.extend(30s);
    } catch (const BackendUnavailable&) {
      return false;
    }
  }));
  EXPECT_TRUE(locks.lock("another").try_acquire(5s, 5s));
  EXPECT_TRUE(hold.release());
}

// It was advised to do without TLS.
TEST_F(EtcdTls, ACertificateThatTheServerRefusesIsNamedAsThat) {
  const Certificates& files = server_.certificates();
  const std::string certificate = server_.folder() / "mine.pem",
                    key = server_.folder() / "mine.key";
  std::filesystem::copy_file(files.client, certificate);
  std::filesystem::copy_file(files.client_key, key);
  Options options;
  options.command_timeout = 500ms;
  const Locks locks = etcd_locks("etcds://" + server_.address() + "/?tls_ca=" + files.authority +
                                     "&tls_cert=" + certificate + "&tls_key=" + key,
                                 options);
  EXPECT_TRUE(locks.lock("key").try_acquire(1s, 5s));
  std::filesystem::create_directory(server_.folder() / "strange");
  const Certificates strange(server_.folder() / "strange", "IP:127.0.0.1");
  std::filesystem::rename(strange.client, certificate);
  std::filesystem::rename(strange.client_key, key);
  server_.kill();
  server_.start();
  std::string why;
  EXPECT_TRUE(eventually([&] {
    try {
      static_cast<void>(locks.lock("key").try_acquire(0ms, 5s));
    } catch (const BackendUnavailable& unavailable) {
      why = unavailable.what();
    }
    return why.find("a certificate (tls_cert=) that it trusts") != std::string::npos;
  })) << why;
  EXPECT_EQ(why.find("etcd:// is without TLS"), std::string::npos) << why;
}

}  // namespace
}  // namespace latchkey::tests
