// Tests of the start: an error in a URI or at a server is reported as one clear sentence.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/etcd.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/recorder.hpp>

#include "etcd_fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

struct Wrong {
  std::string uri, word;
};

TEST(EtcdUri, WhatIsWrongIsNamed) {
  for (const auto& [uri, word] : {
           Wrong{"etcd://", "etcd"},
           Wrong{"etcd://host:port", "port"},
           Wrong{"etcd://host/?session=1s", "from 2 s on"},
           Wrong{"etcd://host/?session=2500ms", "2500ms"},
           Wrong{"etcd://host/?sesion=5s", "sesion"},
           Wrong{"etcd://host/?tls_ca=x", "'tls_ca' of the etcd URI needs etcds://"},
           Wrong{"etcds://host/?tls_key=x", "'tls_key' of the etcd URI needs 'tls_cert'"},
           Wrong{"etcds://host/?cafile=x", "'cafile' of the etcd URI is now called 'tls_ca'"},
           Wrong{"etcds://host/?cert=x", "'cert' of the etcd URI is now called 'tls_cert'"},
           Wrong{"etcds://host/?key=x", "'key' of the etcd URI is now called 'tls_key'"},
           Wrong{"etcd://:secret@host", "missing user"},
       }) {
    const std::string said = etcd_refusal(uri);
    EXPECT_NE(said.find(word), std::string::npos) << uri << ": " << said;
    EXPECT_EQ(said.find("secret"), std::string::npos);
  }
}

TEST(EtcdUri, DescribesItselfWithoutThePassword) {
  const auto uri = detail::etcd::EtcdUri::parse("etcd://me%40x:p%2Fw@h1,h2:1/locks/a?session=2min");
  EXPECT_EQ(uri.describe(), "etcd://h1:2379,h2:1/locks/a");
  EXPECT_EQ(uri.user, "me@x");
  EXPECT_EQ(uri.password, "p/w");
  EXPECT_EQ(uri.prefix, "locks/a/");
  EXPECT_EQ(uri.session, 2min);
}

// `etcd://host/locks` and `etcd://host/locks/` were different places, with a holder each.
TEST(EtcdUri, ASlashAtTheEndOfThePrefixChangesNothing) {
  for (const std::string path : {"/locks", "/locks/", "/locks//", "/locks%2F"}) {
    const auto uri = detail::etcd::EtcdUri::parse("etcd://host" + path + "?session=5s");
    EXPECT_EQ(uri.prefix, "locks/") << path;
    EXPECT_EQ(uri.describe(), "etcd://host:2379/locks") << path;
  }
  EXPECT_EQ(detail::etcd::EtcdUri::parse("etcd://host//locks/").prefix, "/locks/")
      << "keys of etcd may begin with a slash";
  for (const std::string path : {"", "/", "//"}) {
    EXPECT_EQ(detail::etcd::EtcdUri::parse("etcd://host" + path).prefix, "") << path;
  }
}

TEST(EtcdStart, SchemesAreRegisteredOnce) {
  register_etcd();
  register_etcd();
  Locks locks = Locks::connect(shared_etcd().uri());
  EXPECT_TRUE(locks.lock(fresh_etcd_key()).try_acquire(1s, 5s));
}

TEST(EtcdStart, ALeaseLongerThanTheSessionIsRefused) {
  Locks locks = etcd_locks(shared_etcd().uri("session=40s"));
  EXPECT_THROW(static_cast<void>(locks.lock(fresh_etcd_key()).try_acquire(0ms, 41s)),
               std::invalid_argument);
}

TEST(EtcdStart, KeysHaveThePrefixOfTheUri) {
  Locks locks = etcd_locks("etcd://" + shared_etcd().address() + "/my/locks");
  const std::string key = fresh_etcd_key();
  const Hold hold = locks.lock(key).acquire(1s, 5s);
  EXPECT_EQ(shared_etcd().keys("my/locks/" + key + '/').size(), 1U);
  EXPECT_EQ(locks.list("*"), std::vector<std::string>{key});
}

TEST(EtcdStart, AServerThatIsNotThereIsNamedAndTheNextOneServes) {
  const std::string nobody = etcd_refusal("etcd://127.0.0.1:1");
  EXPECT_NE(nobody.find("connection refused"), std::string::npos) << nobody;
  const std::string one_of_two = etcd_refusal("etcd://127.0.0.1:1," + shared_etcd().address());
  EXPECT_EQ(one_of_two, "accepted");
  const std::string port = std::to_string(shared_etcd().port());
  EXPECT_EQ(etcd_refusal("etcd://localhost:" + port), "accepted");
}

TEST(EtcdStart, UsersAndPermissions) {
  EtcdServer server;
  const auto with = [&](const std::string& login) { return "etcd://" + login + server.address(); };
  EXPECT_NE(etcd_refusal(with("me:secret@")).find("no authentication enabled"), std::string::npos);
  server.ctl({"user", "add", "root:top"});
  server.ctl({"user", "grant-role", "root", "root"});
  server.ctl({"user", "add", "me:secret"});
  server.ctl({"role", "add", "locks"});
  server.ctl({"role", "grant-permission", "locks", "readwrite", "--prefix=true", "mine:"});
  server.ctl({"user", "grant-role", "me", "locks"});
  server.ctl({"auth", "enable"});
  EXPECT_NE(etcd_refusal(with("")).find("requires a user"), std::string::npos)
      << etcd_refusal(with(""));
  const std::string wrong = etcd_refusal(with("me:wrong@"));
  EXPECT_NE(wrong.find("rejects this user or this password"), std::string::npos) << wrong;
  EXPECT_EQ(wrong.find("wrong@"), std::string::npos);
  Locks locks = etcd_locks(with("me:secret@"));
  EXPECT_TRUE(locks.lock("mine:1").try_acquire(1s, 5s));
  try {
    static_cast<void>(locks.lock("yours:1").try_acquire(1s, 5s));
    ADD_FAILURE() << "granted without a permission";
  } catch (const BackendRefused& refused) {
    EXPECT_NE(std::string(refused.what()).find("denies access to 'yours:1/'"), std::string::npos)
        << refused.what();
  }
}

TEST(EtcdStart, AServerThatMayBeDownIsWarnedOfAndUsedOnceItIsThere) {
  EtcdServer server;
  server.kill();
  testing::Recorder recorder;
  const Locks locks =
      etcd_locks(server.uri(),
                 {.command_timeout = 500ms, .startup = Startup::allow_down, .listener = &recorder});
  ASSERT_TRUE(recorder.await(Event::Kind::warning));
  EXPECT_NE(recorder.events().back().text.find("it cannot be reached now"), std::string::npos);
  EXPECT_THROW(static_cast<void>(locks.lock("late").try_acquire(0ms)), BackendUnavailable);
  server.start();
  EXPECT_TRUE(locks.lock("late").try_acquire(10s, 5s));
}

// etcd no longer accepts a signed token when any permission has changed since the login. Every call
// was refused then, until the connection was lost for another reason.
TEST(EtcdStart, LogsInAgainWhenPermissionsHaveChanged) {
  EtcdServer server;
  const std::string secret = server.folder() / "secret";
  std::ofstream(secret) << "0123456789abcdef0123456789abcdef";
  server.kill();
  server.start({"--auth-token", "jwt,sign-method=HS256,priv-key=" + secret});
  server.ctl({"user", "add", "root:top"});
  server.ctl({"user", "grant-role", "root", "root"});
  server.ctl({"auth", "enable"});
  Locks locks = etcd_locks("etcd://root:top@" + server.address());
  const Hold hold = locks.lock("1").acquire(1s, 5s);
  server.ctl({"--user=root:top", "role", "add", "new"});
  EXPECT_TRUE(locks.lock("2").try_acquire(5s, 5s));
  EXPECT_FALSE(hold.lost());
}

}  // namespace
}  // namespace latchkey::tests
