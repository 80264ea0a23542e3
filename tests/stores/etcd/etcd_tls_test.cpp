// etcds://: TLS with certificates of both sides.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class EtcdTls : public ::testing::Test {
 protected:
  [[nodiscard]] std::string uri(const std::string& authority, const std::string& host) const {
    const Certificates& files = server_.certificates();
    return "etcds://" + host + ':' + std::to_string(server_.port()) + "/?cafile=" + authority +
           "&cert=" + files.client + "&key=" + files.client_key;
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
  EXPECT_NE(missing.find("'cafile' of the etcd URI names '/nowhere.pem'"), std::string::npos)
      << missing;
  const std::string anonymous =
      etcd_refusal("etcds://" + server_.address() + "/?cafile=" + files.authority);
  EXPECT_NE(anonymous.find("TLS"), std::string::npos) << anonymous;
  const EtcdServer without;
  const std::string no_tls = etcd_refusal("etcds://" + without.address());
  EXPECT_NE(no_tls.find("etcd: is without TLS"), std::string::npos) << no_tls;
}

}  // namespace
}  // namespace latchkey::tests
