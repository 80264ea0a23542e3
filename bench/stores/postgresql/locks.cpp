// Locks in PostgreSQL, compared with ShedLock's statements sent by libpq: one prepared statement
// after the other, and a connection for each thread. The data are on disk. Both commit each acquire
// and each release; latchkey's releases do not wait for the disk, as docs/stores/postgresql.md
// says. SPDX-License-Identifier: BSL-1.0
#include <libpq-fe.h>
#include <poll.h>
#include <latchkey/latchkey.hpp>
#include <latchkey/postgresql.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "postgresql_server.hpp"
#include "side_by_side.hpp"

namespace {

using namespace std::chrono_literals;
namespace bench = latchkey::bench;
using latchkey::tests::PostgresqlServer;

constexpr int threads = 8;
/// The pause between attempts of a service that waits for a ShedLock lock.
constexpr int poll_ms = 10;

class Shedlock {
 public:
  Shedlock(const PostgresqlServer& server, std::string by)
      : by_(std::move(by)),
        connection_(::PQconnectdb(("host=127.0.0.1 user=plain password=plain dbname=locks port=" +
                                   std::to_string(server.port()))
                                      .c_str()),
                    ::PQfinish) {
    prepare("acquire",
            "INSERT INTO shedlock(name, lock_until, locked_at, locked_by) VALUES($1, "
            "timezone('utc', CURRENT_TIMESTAMP) + interval '30 s', timezone('utc', "
            "CURRENT_TIMESTAMP), $2) ON CONFLICT (name) DO UPDATE SET lock_until = timezone('utc', "
            "CURRENT_TIMESTAMP) + interval '30 s', locked_at = timezone('utc', CURRENT_TIMESTAMP), "
            "locked_by = $2 WHERE shedlock.lock_until <= timezone('utc', CURRENT_TIMESTAMP)");
    prepare("release",
            "UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) WHERE name = $1 "
            "AND locked_by = $2");
  }

  bool acquire(const std::string& key) { return run("acquire", key); }
  void release(const std::string& key) { run("release", key); }

 private:
  void prepare(const char* name, const char* sql) {
    PGresult* const result = ::PQprepare(connection_.get(), name, sql, 2, nullptr);
    const bool good = ::PQresultStatus(result) == PGRES_COMMAND_OK;
    ::PQclear(result);
    if (!good) throw std::runtime_error(::PQerrorMessage(connection_.get()));
  }
  bool run(const char* name, const std::string& key) {
    const char* const values[] = {key.c_str(), by_.c_str()};
    PGresult* const result =
        ::PQexecPrepared(connection_.get(), name, 2, values, nullptr, nullptr, 0);
    const bool changed = ::PQcmdTuples(result)[0] == '1';
    ::PQclear(result);
    return changed;
  }

  const std::string by_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

template <class Call>
auto on_threads(int count, Call call) {
  return [count, call](int operations) {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < count; ++thread) {
      running.emplace_back([=] {
        for (int i = 0; i < operations / count; ++i) call(thread);
      });
    }
  };
}

/// The time from the beginning of a release until another client has the lock. `acquire` waits.
template <class Acquire, class Release>
double hand_off_ns(int operations, Acquire acquire, Release release) {
  std::chrono::nanoseconds total{0};
  for (int i = 0; i < operations; ++i) {
    const int holder = i % 2, waiter = 1 - holder;
    acquire(holder);
    std::chrono::steady_clock::time_point granted;
    std::jthread waits([&] {
      acquire(waiter);
      granted = std::chrono::steady_clock::now();
      release(waiter);
    });
    std::this_thread::sleep_for(15ms + (i % 10) * 1ms);  // until it waits
    const auto released = std::chrono::steady_clock::now();
    release(holder);
    waits.join();
    total += granted - released;
  }
  return static_cast<double>(total.count()) / operations;
}

bool compare_hand_off(const std::vector<latchkey::Locks>& locks,
                      const std::vector<std::unique_ptr<Shedlock>>& shedlocks) {
  constexpr int operations = 20, rounds = 3;
  std::vector<double> ours, theirs, ratios;
  std::vector<latchkey::Lock> mine = {locks[0].lock("hand-off"), locks[1].lock("hand-off")};
  std::vector<std::optional<latchkey::Hold>> holds(2);
  const auto at = [](int who) { return static_cast<std::size_t>(who); };
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(hand_off_ns(
        operations,
        [&](int who) { holds[at(who)].emplace(mine[at(who)].acquire(latchkey::forever, 30s)); },
        [&](int who) { holds[at(who)].reset(); }));
    theirs.push_back(hand_off_ns(
        operations,
        [&](int who) {
          while (!shedlocks[at(who)]->acquire("hand-off")) ::poll(nullptr, 0, poll_ms);
        },
        [&](int who) { shedlocks[at(who)]->release("hand-off"); }));
    ratios.push_back(ours.back() / theirs.back());
  }
  fmt::print("{:<44} {:>8.0f} ns {:>8.0f} ns   {:>5.2f}\n", "hand-off (ShedLock polls every 10 ms)",
             bench::median(ours), bench::median(theirs), bench::median(ratios));
  return bench::median(ratios) <= 1.0;
}

}  // namespace

int main() {
  ::setenv("LATCHKEY_POSTGRESQL_DATA", "/tmp", 0);
  latchkey::register_postgresql();
  const PostgresqlServer server(std::vector<std::string>{});
  latchkey::tests::Sql sql = server.sql();
  sql("CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, "
      "locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
  sql("GRANT SELECT, INSERT, UPDATE ON shedlock TO plain");
  std::vector<latchkey::Locks> locks;
  for (int client = 0; client < 2; ++client) {
    locks.push_back(latchkey::Locks::connect(server.uri()));
  }
  std::vector<std::unique_ptr<Shedlock>> shedlocks;
  for (int thread = 0; thread < threads; ++thread) {
    shedlocks.push_back(std::make_unique<Shedlock>(server, "host-" + std::to_string(thread)));
  }
  const auto ours = [&](int thread) {
    const latchkey::Hold hold =
        locks[0].lock("key:" + std::to_string(thread)).acquire(latchkey::forever, 30s);
  };
  const auto theirs = [&](int thread) {
    const std::string key = "key:" + std::to_string(thread);
    Shedlock& client = *shedlocks[static_cast<std::size_t>(thread)];
    if (client.acquire(key)) client.release(key);
  };
  bench::print_header("ShedLock");
  bool held =
      bench::compare("pair, 1 thread", 400, 1.0, on_threads(1, ours), on_threads(1, theirs));
  held &= bench::compare("pair, 8 threads on 8 keys", 1'600, 1.0, on_threads(threads, ours),
                         on_threads(threads, theirs));
  held &= compare_hand_off(locks, shedlocks);
  return held ? 0 : 1;
}
