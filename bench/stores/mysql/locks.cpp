// Locks in MariaDB beside ShedLock's statements by hand, on one server whose data are on disk.
#include <latchkey/locks.hpp>
#include <latchkey/mysql.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "side_by_side.hpp"
#include "stores/mysql/mysql_server.hpp"

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;
using tests::MysqlServer;
using tests::MysqlSession;

constexpr int threads = 8;
/// How often both ask for a lock that is busy.
constexpr auto poll = 10ms;

/// The statements of ShedLock's JdbcTemplateLockProvider with usingDbTime(), on a connection of its
/// own: INSERT IGNORE for a name that it has not seen, then one UPDATE for each lock and unlock. As
/// text, which MariaDB executes faster than the same statements prepared.
class ShedLockByHand {
 public:
  ShedLockByHand(const MysqlServer& server, std::string name)
      : session_(new MysqlSession(server.session())), name_(std::move(name)) {
    (*session_)("INSERT IGNORE INTO shedlock(name, lock_until, locked_at, locked_by) VALUES('" +
                name_ + "', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), 'me')");
  }
  bool lock() {
    return session_->changes(
               "UPDATE shedlock SET lock_until = TIMESTAMPADD(MICROSECOND, 30000000, "
               "UTC_TIMESTAMP(3)), locked_at = UTC_TIMESTAMP(3), locked_by = 'me' WHERE name = '" +
               name_ + "' AND lock_until <= UTC_TIMESTAMP(3)") == 1;
  }
  void unlock() {
    session_->changes("UPDATE shedlock SET lock_until = UTC_TIMESTAMP(3) WHERE name = '" + name_ +
                      "' AND locked_by = 'me'");
  }

 private:
  std::unique_ptr<MysqlSession> session_;
  std::string name_;
};

/// Waits until the server has removed the old versions of rows that the last measurement has left:
/// it does so in the background, for as long as the measurement took, and the time would be charged
/// to the other side.
class Purge {
 public:
  explicit Purge(const MysqlServer& server) : session_(new MysqlSession(server.session())) {}

  void operator()() {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (history() > 0) {
      if (std::chrono::steady_clock::now() >= end) {
        fmt::print(stderr, "{} transactions are still to be purged after {} s\n", history(),
                   patience.count());
        return;
      }
      std::this_thread::sleep_for(20ms);  // the server does not report the end
    }
  }

 private:
  static constexpr std::chrono::seconds patience{20};

  long history() {
    return std::stol(session_->one(
        "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME='trx_rseg_history_len'"));
  }

  std::unique_ptr<MysqlSession> session_;
};

void must(bool yes) {
  if (!yes) throw std::runtime_error("the lock was not granted");
}

template <class Pair>
void in_threads(int operations, Pair&& pair) {
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      for (int round = 0; round < operations / threads; ++round) pair(thread);
    });
  }
  for (std::thread& thread : all) thread.join();
}

bool one_thread(const MysqlServer& server, const Locks& locks, Purge& purge) {
  ShedLockByHand peer(server, "one");
  const Lock lock = locks.lock("one");
  return compare(
      "a pair, one thread", 2000, 1.0,
      [&](int operations) {
        Lock mine = lock;
        for (int round = 0; round < operations; ++round) must(mine.acquire(0ms, 30s).release());
      },
      [&](int operations) {
        for (int round = 0; round < operations; ++round) {
          must(peer.lock());
          peer.unlock();
        }
      },
      purge, 15);
}

bool many_threads(const MysqlServer& server, const Locks& locks, Purge& purge) {
  std::vector<ShedLockByHand> peers;
  for (int thread = 0; thread < threads; ++thread) {
    peers.emplace_back(server, "of " + std::to_string(thread));
  }
  return compare(
      "a pair, 8 threads on 8 keys", 4000, 1.0,
      [&](int operations) {
        in_threads(operations, [&](int thread) {
          must(locks.lock("of " + std::to_string(thread)).acquire(0ms, 30s).release());
        });
      },
      [&](int operations) {
        in_threads(operations, [&](int thread) {
          must(peers[static_cast<std::size_t>(thread)].lock());
          peers[static_cast<std::size_t>(thread)].unlock();
        });
      },
      purge);
}

/// Two sides hand a lock to each other: how long from the release until the other side has it.
template <class Acquire, class Release>
void hand_over(int operations, Acquire&& acquire, Release&& release) {
  std::atomic<int> turn{0};
  const auto side = [&](int me) {
    for (int round = me; round < operations; round += 2) {
      while (turn.load() != round) std::this_thread::yield();
      acquire(me);
      turn.store(round + 1);
      // The other side has found the lock busy, and polls.
      std::this_thread::sleep_for(poll / 2 + poll * (round % 7) / 7);
      release(me);
    }
  };
  std::thread other(side, 1);
  side(0);
  other.join();
}

bool hand_off(const MysqlServer& server, const Locks& locks, const Locks& others, Purge& purge) {
  std::vector<ShedLockByHand> peers;
  peers.emplace_back(server, "passed");
  peers.emplace_back(server, "passed");
  std::vector<std::optional<Hold>> holds(2);
  return compare(
      "hand-off and a wait of 10 ms, two connections", 60, 1.0,
      [&](int operations) {
        hand_over(
            operations,
            [&](int me) {
              holds[static_cast<std::size_t>(me)] =
                  (me == 0 ? locks : others).lock("passed").acquire(10s, 30s);
            },
            [&](int me) { must(holds[static_cast<std::size_t>(me)]->release()); });
      },
      [&](int operations) {
        hand_over(
            operations,
            [&](int me) {
              while (!peers[static_cast<std::size_t>(me)].lock()) std::this_thread::sleep_for(poll);
            },
            [&](int me) { peers[static_cast<std::size_t>(me)].unlock(); });
      },
      purge);
}

int run() {
  ::setenv("LATCHKEY_MYSQL_DATA", "/tmp", 0);
  const MysqlServer server;
  server.session()(
      "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, "
      "locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
  register_mysql();
  const Locks locks = Locks::connect(server.socket_uri());
  const Locks others = Locks::connect(server.socket_uri());
  print_header("ShedLock");
  Purge purge(server);
  bool held = one_thread(server, locks, purge);
  held &= many_threads(server, locks, purge);
  held &= hand_off(server, locks, others, purge);
  return held ? 0 : 1;
}

}  // namespace
}  // namespace latchkey::bench

int main() { return latchkey::bench::run(); }
