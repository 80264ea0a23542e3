// Real etcdctl and latchkey take turns on one lock.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class EtcdInterop : public ::testing::Test {
 protected:
  EtcdInterop() { std::ofstream(journal_).flush(); }

  /// `etcdctl lock key -- sh -c script`. The script may append to $JOURNAL.
  Process etcdctl_lock(const std::string& script) {
    return Process(server_.ctl_words({"lock", key_, "--", "sh", "-c",
                                      "JOURNAL=" + journal_.string() + "; " + script}),
                   server_.folder() / "lock.log");
  }
  std::string journal() const {
    std::ostringstream text;
    text << std::ifstream(journal_).rdbuf();
    return text.str();
  }
  void write(const std::string& line) { std::ofstream(journal_, std::ios::app) << line << '\n'; }
  std::size_t keys() const { return server_.keys(key_ + '/').size(); }

  EtcdServer& server_ = shared_etcd();
  const std::string key_ = "interop/" + fresh_etcd_key();
  const std::filesystem::path journal_ =
      server_.folder() / ("journal-" + key_.substr(key_.rfind(':') + 1));
  Locks locks_ = etcd_locks(server_.uri());
};

TEST_F(EtcdInterop, LatchkeyWaitsForEtcdctlAndIsGrantedWhenItEnds) {
  const std::string stay =
      "while [ ! -e $JOURNAL.go ]; do sleep 0.01; done; echo etcdctl >> $JOURNAL";
  Process holder = etcdctl_lock(stay);
  ASSERT_TRUE(eventually([&] { return keys() == 1; }));
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::FENCED}) {
    EXPECT_FALSE(locks_.lock(key_, type).try_acquire(0ms, 5s));
    EXPECT_FALSE(locks_.lock(key_, type).try_acquire(50ms, 5s));
  }
  EXPECT_EQ(keys(), 1U) << "an attempt leaves no key";
  std::thread waiter([&] {
    const Hold hold = locks_.lock(key_).acquire(10s, 5s);
    write("latchkey");
  });
  EXPECT_TRUE(eventually([&] { return keys() == 2; }));
  std::ofstream(journal_.string() + ".go").flush();
  waiter.join();
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_EQ(journal(), "etcdctl\nlatchkey\n");
  EXPECT_EQ(keys(), 0U);
}

TEST_F(EtcdInterop, EtcdctlWaitsForLatchkeyAndForAllInFrontOfIt) {
  Hold hold = locks_.lock(key_).acquire(1s, 10s);
  Process waiting = etcdctl_lock("echo etcdctl >> $JOURNAL");
  ASSERT_TRUE(eventually([&] { return keys() == 2; }));
  Locks other = etcd_locks(server_.uri());
  std::thread last([&] {
    const Hold next = other.lock(key_).acquire(10s, 5s);
    write("last");
  });
  EXPECT_TRUE(eventually([&] { return keys() == 3; }));
  EXPECT_EQ(journal(), "");
  write("first");
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(waiting.wait(), 0);
  last.join();
  EXPECT_EQ(journal(), "first\netcdctl\nlast\n") << "in the order of arrival";
  EXPECT_EQ(keys(), 0U);
}

TEST_F(EtcdInterop, TheFencingTokenIsTheCreateRevision) {
  Hold hold = locks_.lock(key_, LockType::FENCED).acquire(1s, 10s);
  const std::string fields = server_.ctl({"get", "--prefix", key_ + '/', "-w", "fields"});
  const std::string revision = std::to_string(*hold.fencing_token() >> 16U);
  EXPECT_NE(fields.find("\"CreateRevision\" : " + revision + '\n'), std::string::npos) << fields;
}

TEST_F(EtcdInterop, InspectNamesTheClientOfAnotherLibrary) {
  Process holder = etcdctl_lock("while [ ! -e $JOURNAL.go ]; do sleep 0.01; done");
  ASSERT_TRUE(eventually([&] { return keys() == 1; }));
  const LockInfo info = locks_.inspect(key_);
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_TRUE(info.holders[0].id.starts_with("an etcd client with the lease "));
  EXPECT_TRUE(locks_.force_release(key_));
  EXPECT_TRUE(locks_.lock(key_).try_acquire(0ms, 5s));
  std::ofstream(journal_.string() + ".go").flush();
  holder.wait();
}

// The name of such a lock is shorter than the prefix, which was cut off it: std::terminate.
TEST_F(EtcdInterop, ALockNamedAsThePrefixIsNotListedAndDoesNotEndTheProcess) {
  Process holder = etcdctl_lock("while [ ! -e $JOURNAL.go ]; do sleep 0.01; done");
  ASSERT_TRUE(eventually([&] { return keys() == 1; }));
  const Locks below = etcd_locks("etcd://" + server_.address() + '/' + key_);
  Hold hold = below.lock("below").acquire(1s, 5s);
  EXPECT_EQ(below.list("*"), std::vector<std::string>{"below"});
  EXPECT_EQ(below.list_awaited("*").names, std::vector<std::string>());
  EXPECT_TRUE(hold.release());
  std::ofstream(journal_.string() + ".go").flush();
  EXPECT_EQ(holder.wait(), 0);
}

// Their keys are below that of the lock, and the first one was taken for the holder's.
TEST_F(EtcdInterop, AForcedReleaseEndsNoHoldOfALockWhoseNameBeginsWithThatOne) {
  for (const LockType type : {LockType::FENCED, LockType::READ, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    Hold below = locks_.lock(key_ + "/x-lock-0", type).acquire(1s, 10s);
    EXPECT_FALSE(locks_.inspect(key_).locked);
    EXPECT_FALSE(locks_.force_release(key_));
    EXPECT_FALSE(locks_.release_holder(key_, below.id()));
    std::thread waiting([&] { static_cast<void>(locks_.lock(key_).acquire(10s, 5s)); });
    EXPECT_TRUE(eventually([&] { return locks_.inspect(key_).queue.size() == 1; }));
    EXPECT_FALSE(locks_.force_release(key_));
    EXPECT_EQ(locks_.list(key_ + "*").size(), 2U);
    EXPECT_TRUE(below.release());
    waiting.join();
  }
}

// Etcd issue 11456: a waiter whose session ended while it waited must not believe that it holds.
TEST_F(EtcdInterop, AWaiterWhoseSessionEndedEntersTheQueueAgain) {
  Hold hold = locks_.lock(key_).acquire(1s, 20s);
  const std::string own = server_.keys(key_ + '/').at(0);
  Locks other = etcd_locks(server_.uri());
  std::thread waiter([&] {
    const Hold next = other.lock(key_).acquire(15s, 5s);
    EXPECT_EQ(server_.keys(key_ + '/').size(), 1U);
    EXPECT_FALSE(next.lost());
  });
  ASSERT_TRUE(eventually([&] { return keys() == 2; }));
  for (const std::string& key : server_.keys(key_ + '/')) {
    if (key != own) server_.ctl({"lease", "revoke", key.substr(key.rfind('/') + 1)});
  }
  EXPECT_TRUE(hold.release());
  waiter.join();
  EXPECT_EQ(keys(), 0U);
}

}  // namespace
}  // namespace latchkey::tests
