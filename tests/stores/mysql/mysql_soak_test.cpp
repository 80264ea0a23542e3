// Four processes that lock and are killed, and a server that is killed. The judge is in memory that
// the processes share.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"
#include "support/fork.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using tests::mysql_server;

constexpr int processes = 4, threads = 8;
constexpr std::array types{LockType::REENTRANT, LockType::FAIR, LockType::WRITE, LockType::FENCED,
                           LockType::READ};

/// The data that one key guards.
struct Cell {
  std::atomic<std::uint64_t> writer{0};  ///< the process inside; 0: none
  std::array<std::atomic<std::uint64_t>, processes> readers{};
  std::atomic<std::uint64_t> updates{0};  ///< changed by a load and a store
  std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> token{0};
};

struct Court {
  std::array<Cell, types.size()> cells{};
  std::atomic<std::uint64_t> overlaps{0}, stale_tokens{0}, visits{0}, lost{0}, unavailable{0};

  void enter_alone(Cell& cell, std::uint64_t process, std::uint64_t token) {
    if (cell.writer.exchange(process) != 0) ++overlaps;
    for (const auto& count : cell.readers) overlaps += count.load();
    if (token != 0 && cell.token.exchange(token) >= token) ++stale_tokens;
    const std::uint64_t seen = cell.updates.load();
    std::this_thread::yield();
    cell.updates.store(seen + 1);
    ++cell.made;
    cell.writer.store(0);
  }
  void enter_shared(Cell& cell, std::size_t number) {
    ++cell.readers[number];
    if (cell.writer.load() != 0) ++overlaps;
    std::this_thread::yield();
    if (cell.writer.load() != 0) ++overlaps;
    --cell.readers[number];
  }
  /// After a process was killed, before its locks are free.
  void teardown(std::size_t number) {
    for (Cell& cell : cells) {
      std::uint64_t dead = number + 1;
      cell.writer.compare_exchange_strong(dead, 0);
      cell.readers[number].store(0);
    }
  }
};

void visit_key(const Locks& locks, Court& court, std::size_t number, std::minstd_rand& random) {
  const std::size_t at = random() % types.size();
  LockType type = types[at];
  if (type == LockType::READ && random() % 4 == 0) type = LockType::WRITE;
  Cell& cell = court.cells[at];
  try {
    const bool fenced = (type == LockType::FAIR || type == LockType::WRITE) && random() % 2 == 0;
    auto hold = locks.try_acquire("soak:" + std::to_string(at),
                                  {.type = type, .wait = 5s, .lease = 2s, .fenced = fenced});
    if (!hold) return;
    if (type == LockType::READ) {
      court.enter_shared(cell, number);
    } else {
      court.enter_alone(cell, number + 1, hold->fencing_token().value_or(0));
    }
    ++court.visits;
    if (!hold->release()) ++court.lost;
  } catch (const BackendUnavailable&) {
    ++court.unavailable;
  }
}

void work(Court& court, std::size_t number, std::chrono::steady_clock::time_point end) {
  register_mysql();
  const Locks locks = Locks::connect(mysql_server().uri(), {.command_timeout = 1s});
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&] {
      std::minstd_rand random(std::random_device{}());
      while (std::chrono::steady_clock::now() < end) visit_key(locks, court, number, random);
    });
  }
  for (std::thread& thread : all) thread.join();
  locks.close(5s);
}

TEST(MysqlSoak, KilledProcessesAndAKilledServerLeaveNoOverlapAndNoRow) {
  tests::MysqlServer& server = mysql_server();
  server.session()("DELETE FROM latchkey_locks; DELETE FROM latchkey_members");
  const Shared<Court> court;
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + std::max<std::chrono::milliseconds>(length_of_soak(), 4s);
  std::array<pid_t, processes> ids{};
  const auto start = [&](std::size_t number) {
    const pid_t id = tests::fork_child();
    if (id == 0) {
      try {
        work(*court, number, end);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "in a child: %s\n", error.what());
        std::_Exit(1);
      }
      std::_Exit(0);
    }
    ids[number] = id;
  };
  for (std::size_t number = 0; number < processes; ++number) start(number);

  std::uint64_t kills = 0;
  bool server_killed = false;
  std::minstd_rand random(static_cast<std::minstd_rand::result_type>(seed_of_soak()));
  while (std::chrono::steady_clock::now() < end - 1s) {
    std::this_thread::sleep_for(1s);  // sleeps: workers run for a while between the faults
    if (!server_killed && std::chrono::steady_clock::now() > begin + (end - begin) / 2) {
      server.kill();
      server.start();
      server_killed = true;
      continue;
    }
    const std::size_t victim = random() % processes;
    ::kill(ids[victim], SIGKILL);
    ::waitpid(ids[victim], nullptr, 0);
    court->teardown(victim);
    ++kills;
    start(victim);
  }
  for (const pid_t id : ids) {
    int status = 0;
    ::waitpid(id, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::printf("%llu visits, %llu kills, lost %llu, unavailable %llu\n",
              static_cast<unsigned long long>(court->visits.load()),
              static_cast<unsigned long long>(kills),
              static_cast<unsigned long long>(court->lost.load()),
              static_cast<unsigned long long>(court->unavailable.load()));
  EXPECT_TRUE(server_killed);
  EXPECT_EQ(court->overlaps, 0U);
  EXPECT_EQ(court->stale_tokens, 0U);
  for (const Cell& cell : court->cells) {
    EXPECT_GE(cell.updates, cell.made) << "a lost update";
    EXPECT_LE(cell.updates, cell.made + kills * threads);
  }
  // The locks of killed processes are free, and their rows swept, after the lease.
  std::this_thread::sleep_for(3s);  // sleeps: the leases of killed processes end
  register_mysql();
  const Locks locks = Locks::connect(server.uri());
  for (std::size_t at = 0; at < types.size(); ++at) {
    EXPECT_TRUE(locks.lock("soak:" + std::to_string(at), LockType::WRITE).try_acquire(0ms, 1s));
  }
  std::this_thread::sleep_for(1100ms);  // sleeps: the interval of sweeps
  EXPECT_TRUE(locks.lock("another").try_acquire());
  EXPECT_EQ(server.session().one("SELECT COUNT(*) FROM latchkey_locks"), "0");
  EXPECT_EQ(server.session().one("SELECT COUNT(*) FROM latchkey_members"), "0");
}

}  // namespace
}  // namespace latchkey::soak
