// Held keys are watched: a hold that somebody ends by force is lost long before its next check.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/hold_id.hpp>
#include <latchkey/locks.hpp>

#include "pooler.hpp"
#include "shared_server.hpp"
#include "stores/postgresql/ddl.hpp"
#include "support/recorder.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using testing::Probe;
using Kind = Outcome::Kind;

/// A client of the database that listens to forced releases, as any role may.
class Listener {
 public:
  Listener() { sql_("LISTEN latchkey_forced"); }
  /// The next payload. Empty: none arrives.
  std::string next() {
    const auto end = std::chrono::steady_clock::now() + patience;
    PGconn* const connection = sql_.connection();
    do {
      if (PGnotify* const found = ::PQnotifies(connection)) {
        std::string payload = found->extra;
        ::PQfreemem(found);
        return payload;
      }
      pollfd wanted{.fd = ::PQsocket(connection), .events = POLLIN, .revents = 0};
      ::poll(&wanted, 1, 100);
    } while (::PQconsumeInput(connection) == 1 && std::chrono::steady_clock::now() < end);
    return {};
  }

 private:
  Sql sql_ = shared_server().sql();
};

class PostgresqlWatch : public ::testing::Test {
 protected:
  /// Each hold has this lease. Without a watch its loss is known after a third of it.
  static constexpr auto lease = 30s;

  /// Locks whose session has a name of its own at the server.
  [[nodiscard]] Locks connect(const std::string& uri = shared_server().uri()) {
    return Locks::connect(uri + "?application_name=" + session_, {.listener = &recorder_});
  }
  [[nodiscard]] static Locks connect_others() {
    register_postgresql();
    return Locks::connect(shared_server().uri());
  }
  /// Until the last request of that session is a check of a hold, which has ended.
  void await_check() {
    await("a check", [&] {
      return admin_.one(
                       "SELECT query FROM pg_stat_activity WHERE state = 'idle' AND query ~ "
                       "'latchkey.(renew|verify)' AND application_name = '" +
                       session_ + "'")
                     .empty()
                 ? "none"
                 : "";
    });
  }
  /// Whether `hold` is known as lost within a second after `take_away`, which says whether it was
  /// held.
  static ::testing::AssertionResult is_lost_at_once(const Hold& hold,
                                                    const std::function<bool()>& take_away) {
    const Stalls stalls;
    const auto begin = std::chrono::steady_clock::now();
    if (!take_away()) return ::testing::AssertionFailure() << "was not held";
    if (!eventually([&] { return hold.lost(); })) {
      return ::testing::AssertionFailure() << "not lost";
    }
    const auto took = std::chrono::steady_clock::now() - begin - stalls.total();
    if (took < 1s) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "lost after " << took / 1ms << " ms";
  }
  [[nodiscard]] static Request check(Verb verb, const std::string& key, const HoldId& id,
                                     LockType type = REENTRANT) {
    Request request;
    request.verb = verb;
    request.key = key;
    request.id = id;
    request.type = type;
    request.lease = lease;
    request.watch = true;
    return request;
  }

  const std::string session_ = next_key("watch_");
  const std::string key_ = next_key("watched:");
  Sql admin_ = shared_server().sql();
  Recorder recorder_{false};
  const Locks others_ = connect_others();
};

TEST_F(PostgresqlWatch, AForcedReleaseIsKnownAtOnceWhateverTheType) {
  for (const LockType type : {REENTRANT, FENCED, FAIR, READ, WRITE}) {
    for (const Lease& each : {Lease(watchdog), Lease(lease)}) {
      SCOPED_TRACE(std::string(to_string(type)) + (each.is_watchdog() ? " watchdog" : " fixed"));
      const std::string key = next_key("watched:");
      const Locks locks = connect();
      EXPECT_TRUE(locks.capabilities().watches);
      const Hold hold = locks.lock(key, type).acquire(0ms, each);
      await_check();
      EXPECT_FALSE(hold.lost());
      EXPECT_TRUE(is_lost_at_once(hold, [&] { return others_.force_release(key); }));
    }
  }
}

TEST_F(PostgresqlWatch, AHolderThatIsReleasedByAnotherProcessKnowsAtOnce) {
  for (const LockType type : {REENTRANT, FENCED, FAIR, READ, WRITE}) {
    SCOPED_TRACE(to_string(type));
    const std::string key = next_key("watched:");
    const Locks locks = connect();
    const Hold hold = locks.lock(key, type).acquire(0ms, lease);
    await_check();
    EXPECT_FALSE(others_.release_holder(key, HoldId{HoldId::new_space(), 1}.text()));
    EXPECT_TRUE(is_lost_at_once(hold, [&] { return others_.release_holder(key, hold.id()); }));
  }
}

TEST_F(PostgresqlWatch, OwnRequestsNotifyNobody) {
  Listener listener;
  Recorder recorder;
  const Locks locks =
      Locks::connect(shared_server().uri(), {.watchdog = 900ms, .listener = &recorder});
  {
    const Hold hold = locks.lock(key_).acquire(forever);
    ASSERT_TRUE(recorder.await(Event::Kind::renewed, 4));
  }
  Hold write = locks.lock(key_, WRITE).acquire(0ms, lease);
  ASSERT_TRUE(write.extend(lease * 2));
  EXPECT_TRUE(write.release());
  EXPECT_FALSE(others_.force_release(key_)) << "it is free";
  admin_("SELECT latchkey.notify_holders('the end')");
  EXPECT_EQ(listener.next(), "the end");
  EXPECT_EQ(recorder.count(Event::Kind::lost), 0U);
}

TEST_F(PostgresqlWatch, AForcedReleaseByTheHoldersOwnConnectionIsNotNotified) {
  Listener listener;
  Probe one(connect_backend(shared_server().uri()), {});
  const HoldId id = one.fresh_id();
  EXPECT_EQ(one.acquire(key_, REENTRANT, id, lease).kind, Kind::granted);
  EXPECT_EQ(one.send(check(Verb::verify, key_, id)).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::force_release, key_).kind, Kind::granted);
  EXPECT_EQ(listener.next(), key_);
  EXPECT_EQ(one.send(check(Verb::verify, key_, id)).kind, Kind::gone);
  EXPECT_TRUE(one.notes().empty());
}

TEST_F(PostgresqlWatch, ReadersOfOneBackendAreToldOnce) {
  Probe one(connect_backend(shared_server().uri()), {});
  const HoldId ids[] = {one.fresh_id(), one.fresh_id(), one.fresh_id()};
  for (const HoldId& id : ids) {
    EXPECT_EQ(one.acquire(key_, READ, id, lease).kind, Kind::granted);
    EXPECT_EQ(one.send(check(Verb::renew, key_, id, READ)).kind, Kind::granted);
  }
  EXPECT_EQ(one.send(Verb::release, key_, READ, ids[0]).kind, Kind::granted);
  EXPECT_TRUE(others_.force_release(key_));
  const auto notes = one.notes(patience);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, Notification::Kind::changed);
  EXPECT_EQ(notes[0].key, key_);
}

TEST_F(PostgresqlWatch, AHoldThatHasEndedIsWatchedNoMore) {
  Listener listener;
  Probe one(connect_backend(shared_server().uri()), {});
  const HoldId released = one.fresh_id(), gone = one.fresh_id();
  EXPECT_EQ(one.acquire(key_, REENTRANT, released, lease).kind, Kind::granted);
  EXPECT_EQ(one.send(check(Verb::verify, key_, released)).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::release, key_, REENTRANT, released).kind, Kind::granted);
  EXPECT_EQ(one.acquire(key_, REENTRANT, gone, lease).kind, Kind::granted);
  EXPECT_EQ(one.send(check(Verb::verify, key_, gone)).kind, Kind::granted);
  admin_("DELETE FROM latchkey.lock WHERE name = '" + key_ + "'");
  EXPECT_EQ(one.send(check(Verb::verify, key_, gone)).kind, Kind::gone);
  admin_("SELECT latchkey.notify_holders('" + key_ + "')");
  EXPECT_EQ(listener.next(), key_);
  EXPECT_EQ(one.send(Verb::verify, key_, REENTRANT, gone).kind, Kind::gone);
  EXPECT_TRUE(one.notes().empty());
}

TEST_F(PostgresqlWatch, ARowThatIsDeletedByHandIsKnownOnceTheHoldersAreNotified) {
  const Locks locks = connect();
  const Hold hold = locks.lock(key_).acquire(0ms, lease);
  await_check();
  EXPECT_TRUE(is_lost_at_once(hold, [&] {
    admin_("DELETE FROM latchkey.lock WHERE name = '" + key_ + "'");
    admin_("SELECT latchkey.notify_holders('" + key_ + "')");
    return true;
  }));
}

TEST_F(PostgresqlWatch, ANotificationWithoutALossLeavesTheHold) {
  const Locks locks = connect();
  Hold hold = locks.lock(key_).acquire(0ms, lease);
  await_check();
  admin_("SELECT latchkey.notify_holders('" + key_ + "')");
  admin_("SELECT latchkey.notify_holders(repeat('x', 8000))");
  await_check();
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(recorder_.count(Event::Kind::lost), 0U);
}

TEST_F(PostgresqlWatch, ANewConnectionWatchesAnew) {
  const Locks locks = connect();
  const Hold hold = locks.lock(key_).acquire(0ms, lease);
  await_check();
  admin_("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '" +
         session_ + "'");
  ASSERT_TRUE(recorder_.await(Event::Kind::connection_restored));
  await_check();
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(is_lost_at_once(hold, [&] { return others_.force_release(key_); }));
}

TEST_F(PostgresqlWatch, APoolInSessionModeWatches) {
  if (!has_pgbouncer()) GTEST_SKIP() << "pgbouncer is not installed";
  const Pooler pooler("session");
  Probe one(connect_backend(pooler.uri("?pooler=session")), {});
  EXPECT_TRUE(one.offers().watches);
  const HoldId id = one.fresh_id();
  EXPECT_EQ(one.acquire(key_, REENTRANT, id, lease).kind, Kind::granted);
  EXPECT_EQ(one.send(check(Verb::verify, key_, id)).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::force_release, key_).kind, Kind::granted);
  EXPECT_EQ(one.acquire(key_, REENTRANT, id, lease).kind, Kind::granted);
  EXPECT_EQ(one.send(check(Verb::verify, key_, id)).kind, Kind::granted);
  EXPECT_TRUE(one.notes().empty()) << "it was its own request";
  EXPECT_TRUE(others_.force_release(key_));
  EXPECT_EQ(one.notes(patience).size(), 1U);
}

TEST_F(PostgresqlWatch, TheOptionSwitchesItOff) {
  Listener listener;
  const Options options{.watch_holds = false};
  Probe one(connect_backend(shared_server().uri(), options), options);
  EXPECT_FALSE(one.offers().watches);
  const HoldId id = one.fresh_id();
  EXPECT_EQ(one.acquire(key_, REENTRANT, id, lease).kind, Kind::granted);
  EXPECT_EQ(one.send(check(Verb::verify, key_, id)).kind, Kind::granted);
  EXPECT_TRUE(others_.force_release(key_));
  EXPECT_EQ(listener.next(), key_);
  EXPECT_EQ(one.send(check(Verb::verify, key_, id)).kind, Kind::gone);
  EXPECT_TRUE(one.notes().empty());
}

TEST_F(PostgresqlWatch, ShedLocksTableIsNotWatched) {
  EXPECT_FALSE(connect_backend(shared_server().uri("?schema=shedlock"))->capabilities().watches);
}

/// The functions of before forced releases were notified.
std::string old_ddl() {
  std::string text(detail::postgresql::ddl);
  const std::string call = "PERFORM latchkey.notify_holders(its_name);";
  text.erase(text.find(call), call.size());
  return text + "DROP FUNCTION latchkey.notify_holders;";
}

TEST_F(PostgresqlWatch, WithOldFunctionsALossIsKnownAtTheNextCheck) {
  shared_server().sql("postgres")("CREATE DATABASE unwatched OWNER plain");
  const std::string uri = shared_server().uri_of("plain:plain", "unwatched");
  EXPECT_NE(connect_backend(uri + "?create=yes"), nullptr);
  Sql admin = shared_server().sql("unwatched");
  admin(old_ddl());
  {
    const Locks locks = connect(uri), others = Locks::connect(uri);
    EXPECT_FALSE(locks.capabilities().watches);
    ASSERT_TRUE(recorder_.await(Event::Kind::warning));
    const Hold hold = locks.lock(key_).acquire(0ms, 900ms);
    EXPECT_TRUE(others.force_release(key_));
    EXPECT_TRUE(eventually([&] { return hold.lost(); }));
    EXPECT_TRUE(locks.lock(key_).acquire(0ms, lease).release());
  }
  admin(std::string(detail::postgresql::ddl));
  EXPECT_TRUE(Locks::connect(uri).capabilities().watches);
  shared_server().sql("postgres")("DROP DATABASE unwatched WITH (FORCE)");
}

}  // namespace
}  // namespace latchkey::tests
