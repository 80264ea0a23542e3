// Four processes on one ZooKeeper, which are killed, as is the server.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fixture.hpp"
#include "soak/shared.hpp"
#include "support/fork.hpp"

namespace latchkey::tests {
namespace {

constexpr std::size_t processes = 4, threads = 8;
constexpr std::chrono::milliseconds session = 3s;
constexpr std::array types{LockType::REENTRANT, LockType::FAIR, LockType::FENCED, LockType::WRITE,
                           LockType::REENTRANT};

/// The data of one key, and who is inside. A killed visitor never leaves: it counts no more.
struct Guarded {
  std::atomic<std::uint64_t> occupant{0};  ///< the run of its process, times 100, plus its thread
  std::array<std::atomic<std::uint64_t>, 64> readers{};  ///< by run
  std::atomic<std::uint64_t> updates{0}, made{0}, last_token{0};
};

/// In memory that the processes share.
struct Judge {
  std::array<Guarded, types.size()> keys{};
  std::array<std::atomic<bool>, 64> dead{};  ///< by run
  std::atomic<std::uint64_t> overlaps{0}, stale_tokens{0}, visits{0}, unavailable{0}, lost{0};

  void update(std::size_t key, std::uint64_t run, std::uint64_t thread, std::uint64_t token) {
    Guarded& guarded = keys[key];
    const std::uint64_t me = 100 * run + thread;
    const std::uint64_t before = guarded.occupant.exchange(me);
    if (before != 0 && !dead[before / 100]) ++overlaps;
    for (std::size_t other = 0; other < dead.size(); ++other) {
      if (guarded.readers[other] != 0 && !dead[other]) ++overlaps;
    }
    if (token != 0 && guarded.last_token.exchange(token) >= token) ++stale_tokens;
    guarded.updates.store(guarded.updates.load() + 1);
    guarded.made.fetch_add(1);
    std::uint64_t still = me;
    if (!guarded.occupant.compare_exchange_strong(still, 0)) ++overlaps;
  }
  void read(std::size_t key, std::uint64_t run) {
    Guarded& guarded = keys[key];
    ++guarded.readers[run];
    const std::uint64_t inside = guarded.occupant;
    if (inside != 0 && !dead[inside / 100]) ++overlaps;
    --guarded.readers[run];
  }
};

void work(const Locks& locks, Judge& judge, std::uint64_t run, std::uint64_t thread,
          std::chrono::steady_clock::time_point end) {
  std::minstd_rand random(static_cast<std::minstd_rand::result_type>(100 * run + thread + 1));
  while (std::chrono::steady_clock::now() < end) {
    const std::size_t key = random() % types.size();
    LockType type = types[key];
    if (type == LockType::WRITE && random() % 4 != 0) type = LockType::READ;
    try {
      const std::chrono::milliseconds wait = random() % 4 == 0 ? 5ms : 20s;
      const bool fenced = (type == LockType::FAIR || type == LockType::WRITE) && random() % 2 == 0;
      Hold hold = locks.acquire("key" + std::to_string(key),
                                {.type = type, .wait = wait, .lease = watchdog, .fenced = fenced});
      if (hold.lost()) continue;
      const std::uint64_t token = hold.fencing_token().value_or(0);
      is_shared(type) ? judge.read(key, run) : judge.update(key, run, thread + 1, token);
      ++judge.visits;
      if (!hold.release()) ++judge.lost;
    } catch (const LockTimeout&) {
    } catch (const BackendUnavailable&) {
      ++judge.unavailable;
    }
  }
}

/// One process of the soak; `run`: a number that no process had before.
pid_t start_process(const std::string& uri, Judge& judge, std::uint64_t run,
                    std::chrono::steady_clock::time_point end) {
  const pid_t id = fork_child();
  if (id != 0) return id;
  try {
    std::optional<Locks> connected;
    await("the server", [&] {
      connected = connect_zookeeper(uri, session);  // it is being restarted
      return "";
    });
    const Locks& locks = *connected;
    std::vector<std::thread> all;
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
      all.emplace_back([&, thread] { work(locks, judge, run, thread, end); });
    }
    for (std::thread& each : all) each.join();
    locks.close(1s);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in a child: %s\n", error.what());
    std::_Exit(1);
  }
  std::_Exit(0);
}

using ZooKeeperSoak = ZooKeeperTest;

TEST_F(ZooKeeperSoak, KillsOfProcessesAndOfTheServerOverlapNothing) {
  ZooKeeperServer own;
  const soak::Shared<Judge> judge;
  const auto length = soak::length_of_soak();
  const auto begin = std::chrono::steady_clock::now(), end = begin + length;
  std::array<std::pair<pid_t, std::uint64_t>, processes> running{};
  std::uint64_t runs = 0, kills = 0;
  const auto start = [&](std::size_t at) {
    running[at] = {start_process(own.uri("/soak"), *judge, runs, end), runs};
    ++runs;
  };
  for (std::size_t at = 0; at < processes; ++at) start(at);
  bool restarted = false;
  const auto pause = std::max<std::chrono::milliseconds>(length / 20, 1s);
  for (std::size_t at = 0; end - std::chrono::steady_clock::now() > 3s && runs < 60; ++at) {
    std::this_thread::sleep_for(pause);  // sleeps: workers run for a while between the faults
    const auto [id, run] = running[at % processes];
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
    judge->dead[run] = true;
    ++kills;
    start(at % processes);
    if (restarted || std::chrono::steady_clock::now() - begin < length / 3) continue;
    restarted = true;
    own.kill();
    own.start();
  }
  for (const auto& [id, run] : running) {
    int status = 1;
    ::waitpid(id, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::printf("%llu visits, %llu kills, %llu unavailable, %llu lost\n",
              static_cast<unsigned long long>(judge->visits.load()),
              static_cast<unsigned long long>(kills),
              static_cast<unsigned long long>(judge->unavailable.load()),
              static_cast<unsigned long long>(judge->lost.load()));
  EXPECT_TRUE(restarted);
  EXPECT_EQ(judge->overlaps, 0U);
  EXPECT_EQ(judge->stale_tokens, 0U);
  for (const Guarded& key : judge->keys) {
    EXPECT_GT(key.made, 0U);
    EXPECT_GE(key.updates, key.made);
    EXPECT_LE(key.updates, key.made + kills);
  }
  expect_nothing_left(own, "/soak");
  await("the end of the folders", [&] { return own.nodes() <= 5 ? "" : own.ask("srvr"); });
}

TEST_F(ZooKeeperSoak, TheLockOfAKilledProcessIsFreeWithinItsSession) {
  const std::string folder = fresh_folder();
  const Locks locks = connect_zookeeper(server().uri(folder));
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = fork_child();
  if (child == 0) {
    const Locks own = connect_zookeeper(server().uri(folder) + "?session=2s", 2s);
    const Hold hold = own.lock("key").acquire(1s);
    static_cast<void>(::write(pipe[1], "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  EXPECT_FALSE(locks.lock("key").try_acquire(0s));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto killed = std::chrono::steady_clock::now();
  EXPECT_TRUE(locks.lock("key").try_acquire(5s));
  EXPECT_LT(std::chrono::steady_clock::now() - killed, 3s);
  expect_nothing_left(server(), folder);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace latchkey::tests
