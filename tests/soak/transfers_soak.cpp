// Transfers between 2 to 5 of 50 accounts: the sum is constant, nothing deadlocks, no key is left.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "soak/transfers.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using tests::RedisClient;
using tests::RedisServer;

constexpr int threads = 8;
constexpr int processes = 4;

/// The length of one test: LATCHKEY_SOAK if it is 30 s or longer, otherwise a third of it.
std::chrono::milliseconds length() {
  const std::chrono::milliseconds whole = length_of_soak();
  return whole >= 30s ? whole : whole / 3;
}

void expect_exact(const Vault& vault) {
  std::printf("%llu transfers, %llu failed\n",
              static_cast<unsigned long long>(vault.transfers.load()),
              static_cast<unsigned long long>(vault.failed.load()));
  EXPECT_GT(vault.transfers, 0U);
  EXPECT_EQ(vault.sum(), Vault::opening * static_cast<std::int64_t>(Vault::accounts));
  EXPECT_EQ(vault.overlaps, 0U);
  EXPECT_EQ(vault.lost, 0U);
}

void run_processes(const std::vector<std::string>& uris, Vault& vault,
                   std::chrono::milliseconds length, Children& children) {
  for (int number = 0; number < processes; ++number) {
    children.start([&uris, &vault, length, number] {
      std::vector<Locks> locks;
      for (const std::string& uri : uris) {
        locks.push_back(
            Locks::connect(uri, {.command_timeout = 5s, .startup = Startup::allow_down}));
      }
      Clerks(locks, vault, seed_of_soak() + 1'000 * static_cast<std::uint64_t>(number))
          .run(threads, length);
      for (const Locks& each : locks) each.close(10s);
    });
  }
}

TEST(Transfers, InMemoryKeepTheTotal) {
  Vault vault;
  const Locks locks = Locks::connect("memory:");
  Clerks({locks}, vault, seed_of_soak()).run(threads, length());
  expect_exact(vault);
  EXPECT_TRUE(locks.list().empty());
}

TEST(Transfers, BetweenFourProcessesOnRedisKeepTheTotal) {
  RedisServer server;
  const Shared<Vault> vault;
  Children children;
  const std::vector<std::string> uris{server.tcp_uri()};
  run_processes(uris, *vault, length(), children);
  ASSERT_TRUE(children.join());
  expect_exact(*vault);
  EXPECT_EQ(vault->failed, 0U);
  EXPECT_TRUE(server.client()({"KEYS", "*"}).list().empty());
}

// Half of the accounts are on a persistent server that is killed repeatedly.
TEST(Transfers, KeepTheTotalWhileOneOfTwoServersRestarts) {
  RedisServer steady;
  RedisServer fragile({.config = {"appendonly yes", "appendfsync no"}});
  const Shared<Vault> vault;
  Children children;
  const std::vector<std::string> uris{steady.tcp_uri(), fragile.tcp_uri()};
  const auto time = std::max<std::chrono::milliseconds>(length(), 2s);
  const auto end = std::chrono::steady_clock::now() + time;
  run_processes(uris, *vault, time, children);
  int kills = 0;
  while (std::chrono::steady_clock::now() < end - 500ms) {
    std::this_thread::sleep_for(700ms);  // sleeps: the server runs for a while between its crashes
    fragile.kill();
    fragile.start();
    ++kills;
  }
  ASSERT_TRUE(children.join());
  std::printf("%d kills; ", kills);
  expect_exact(*vault);
  EXPECT_GT(kills, 0);
  // Releases that the server missed are repeated until they are confirmed.
  for (RedisServer* const server : {&steady, &fragile}) {
    RedisClient client = server->client();
    EXPECT_TRUE(tests::eventually([&] { return client({"KEYS", "*"}).list().empty(); }));
  }
}

}  // namespace
}  // namespace latchkey::soak
