// The snippets of docs/leader.md and of leader.hpp.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

#include <latchkey/leader.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/recorder.hpp>

#include "support/recorder.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::eventually;

std::atomic<std::uint64_t> last_billed{0};
void bill_next(std::uint64_t term) { last_billed = term; }
void migrate(const std::stop_token&, std::uint64_t) {}

TEST(DocsLeader, TheLeaderOfThePageBillsAndTellsItsHealth) {
  const Locks locks = Locks::connect("memory:");
  last_billed = 0;
  // clang-format off: the page's own lines
  latchkey::Leader leader =
      locks.leader("leader:billing", [](const std::stop_token& stop, std::uint64_t term) {
        while (!stop.stop_requested()) bill_next(term);
      });
  // clang-format on
  ASSERT_TRUE(eventually([] { return last_billed != 0; }));
  EXPECT_EQ(leader.term(), last_billed);

  const latchkey::LeaderHealth health = leader.health();
  std::string text(to_string(health.state));  // "leading"
  if (health.is_leader) text += ", term " + std::to_string(health.term);
  if (!health.trouble.empty()) text += ": " + health.trouble;
  EXPECT_EQ(text, "leading, term " + std::to_string(last_billed));
}

TEST(DocsLeader, TheTestOfThePagePasses) {
  // clang-format off: the page's own lines
  latchkey::testing::ManualClock clock;
  latchkey::testing::Recorder recorder;
  const auto locks = latchkey::Locks::connect("memory:", {.clock = &clock, .listener = &recorder});
  latchkey::Leader leader =
      locks.leader("leader:billing", [](const std::stop_token& stop, std::uint64_t term) {
        while (!stop.stop_requested()) bill_next(term);
      });
  ASSERT_TRUE(recorder.await(latchkey::Event::Kind::elected));
  EXPECT_TRUE(leader.is_leader());
  clock.advance(31s);  // the process stood still for longer than its lease
  EXPECT_FALSE(leader.is_leader());
  ASSERT_TRUE(recorder.await(latchkey::Event::Kind::deposed));
  // clang-format on
}

TEST(DocsLeader, TheMigrationOfThePageRunsOnce) {
  const Locks locks = Locks::connect("memory:");
  // clang-format off: the page's own lines
  latchkey::Leader migration = locks.leader(
      "leader:migration", migrate,
      {.stop_before = 3s, .after_return = latchkey::AfterReturn::end});
  // clang-format on
  EXPECT_TRUE(eventually([&] { return migration.health().state == LeaderState::ended; }));
  EXPECT_GT(migration.term(), 0U);
}

}  // namespace
}  // namespace latchkey
