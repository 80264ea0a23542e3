// The snippets of docs/leader.md and of once_per.hpp.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include <latchkey/cron.hpp>
#include <latchkey/decorate.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

struct Region {
  std::string name;
};

int reports = 0, mails = 0;
void send_report() { ++reports; }
void mail(const Region&) { ++mails; }
int count_rows(const Region&) { return 7; }

// clang-format off: the page's own lines
struct PageReports {
  void send(const Region& region) {
    LOCKED_ONCE_PER("report:{region.name}", 15min) AROUND(region) { mail(region); };
  }
  std::optional<int> count(const Region& region) {
    return LOCKED_ONCE_PER("count:{region.name}", 24h, {.offset = 3h})
        AROUND(region) -> std::optional<int> { return count_rows(region); };
  }
};
// clang-format on

int cleanings = 0;
void clean_up() { ++cleanings; }
void wait_for_sigterm() {}

// clang-format off: the page's own lines
void run_reports(const latchkey::Locks& locks, const std::stop_token& stop) {
  const latchkey::OncePer report = locks.once_per("report", 15min);
  report.run_until(stop, [] { send_report(); });  // stop: of a std::jthread, or of SIGTERM
}

void serve(const latchkey::Locks& locks) {
  const latchkey::OncePer nightly =
      locks.once_per("nightly", latchkey::Cron("30 2 * * *", "Europe/Berlin"));
  std::jthread scheduler([&](const std::stop_token& stop) { nightly.run_until(stop, clean_up); });
  wait_for_sigterm();
}  // ~jthread requests the stop, and waits for a body that runs
// clang-format on

TEST(DocsOncePer, AStopThatWasRequestedEndsTheLoopBeforeItsFirstRun) {
  std::stop_source stop;
  stop.request_stop();
  reports = 0;
  run_reports(Locks::connect("memory:"), stop.get_token());
  EXPECT_EQ(reports, 0);
}

TEST(DocsOncePer, TheSchedulerEndsWhenItIsToldTo) {
#if defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L
  serve(Locks::connect("memory:"));
#else
  EXPECT_THROW(serve(Locks::connect("memory:")), std::invalid_argument);
#endif
}

TEST(DocsOncePer, TheReportOfThePageIsSentOnce) {
  latchkey::testing::ManualClock clock;
  const Locks locks = Locks::connect("memory:", {.clock = &clock});
  reports = 0;
  int sent_here = 0;
  for (int call = 0; call < 2; ++call) {
    const latchkey::OncePer report = locks.once_per("report", 15min);
    if (report.run([] { send_report(); })) ++sent_here;
  }
  EXPECT_EQ(reports, 1);
  EXPECT_EQ(sent_here, 1);
  const latchkey::OncePer settle =
      locks.once_per("settle", 1h, {.start_within = 10min, .wait = 10min});
  EXPECT_TRUE(settle.run([] {}));
}

struct Stop {};

TEST(DocsOncePer, TheLoopOfTheHeaderRuns) {
  latchkey::testing::ManualClock clock;
  const Locks locks = Locks::connect("memory:", {.clock = &clock});
  reports = 0;
  const auto sleep_until = [&](auto time) {
    if (reports == 3) throw Stop();
    clock.advance(time - clock.wall());
  };
  const auto loop = [&] {
    // clang-format off: the header's own lines
    const latchkey::OncePer report = locks.once_per("report", 15min);
    for (;;) {
      sleep_until(report.next_instant());
      report.run([] { send_report(); });
    }
    // clang-format on
  };
  EXPECT_THROW(loop(), Stop);
}

TEST(DocsOncePer, TheMethodsOfThePageRunOncePerRegion) {
  latchkey::testing::ManualClock clock;
  const latchkey::testing::ScopedLocks locks({.clock = &clock});
  PageReports page;
  mails = 0;
  page.send({"north"});
  page.send({"north"});
  page.send({"south"});
  EXPECT_EQ(mails, 2);
  EXPECT_EQ(page.count({"north"}), 7);
  EXPECT_EQ(page.count({"north"}), std::nullopt);
}

TEST(DocsOncePer, TheTestOfThePagePasses) {
  latchkey::testing::ManualClock clock;
  const auto locks = latchkey::Locks::connect("memory:", {.clock = &clock});
  const latchkey::OncePer nightly = locks.once_per("nightly", 24h, {.offset = 3h});
  EXPECT_TRUE(nightly.run([] {}));   // yesterday's: it is midnight
  EXPECT_FALSE(nightly.run([] {}));  // it is taken
  clock.advance(3h);
  EXPECT_TRUE(nightly.run([] {}));
}

}  // namespace
}  // namespace latchkey
