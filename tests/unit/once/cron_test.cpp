// Cron expressions on the clocks of time zones, with their gaps and overlaps.
#include <latchkey/cron.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "once/cron_times.hpp"
#include "once/once_schedule.hpp"
#include "once/time_zone.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using detail::LocalMoment;
using detail::LocalSeconds;
using detail::SysSeconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SysSeconds utc(int month, int day, int hour, int minute) {
  return std::chrono::sys_days(std::chrono::year(2024) / month / day) + std::chrono::hours(hour) +
         std::chrono::minutes(minute);
}

/// That of Berlin in 2024: clocks go from 02:00 to 03:00 on 31 March, and from 03:00 back to 02:00
/// on 27 October, both at 01:00 UTC.
class Berlin final : public detail::TimeZone {
 public:
  LocalSeconds to_local(SysSeconds time) const override {
    return LocalSeconds(time.time_since_epoch() + offset_at(time));
  }
  LocalMoment to_sys(LocalSeconds time) const override {
    const SysSeconds winter(time.time_since_epoch() - 1h), summer(time.time_since_epoch() - 2h);
    const bool in_winter = offset_at(winter) == 1h, in_summer = offset_at(summer) == 2h;
    if (in_winter && in_summer) return {LocalMoment::Kind::overlap, summer, winter};
    if (!in_winter && !in_summer) return {LocalMoment::Kind::gap, forward, forward};
    const SysSeconds at = in_winter ? winter : summer;
    return {LocalMoment::Kind::once, at, at};
  }

 private:
  const SysSeconds forward = utc(3, 31, 1, 0), back = utc(10, 27, 1, 0);
  [[nodiscard]] std::chrono::hours offset_at(SysSeconds time) const {
    return time >= forward && time < back ? 2h : 1h;
  }
};

/// The instants after `begin`, up to `end`, as "03-31T01:00".
std::vector<std::string> instants(const std::string& expression, SysSeconds begin, SysSeconds end) {
  const detail::CronTimes times(expression, detail::parse_cron(expression),
                                std::make_shared<Berlin>());
  std::vector<std::string> result;
  for (SysSeconds at = times.next(begin); at <= end; at = times.next(at)) {
    EXPECT_EQ(times.last(at), at);
    EXPECT_EQ(times.last(times.next(at) - 1s), at) << "the last one before the next";
    result.push_back(detail::instant_text(at).substr(5, 11));
  }
  return result;
}

TEST(CronZone, DailyJobInAGapRunsOnceAtItsEnd) {
  EXPECT_THAT(instants("30 2 * * *", utc(3, 29, 12, 0), utc(4, 2, 0, 0)),
              ElementsAre("03-30T01:30", "03-31T01:00", "04-01T00:30"));
  EXPECT_THAT(instants("0,30 2 * * *", utc(3, 30, 12, 0), utc(3, 31, 12, 0)),
              ElementsAre("03-31T01:00"))
      << "both of its times are skipped";
}

TEST(CronZone, DailyJobInAnOverlapRunsAtTheFirstOfBothTimes) {
  EXPECT_THAT(instants("30 2 * * *", utc(10, 25, 12, 0), utc(10, 29, 0, 0)),
              ElementsAre("10-26T00:30", "10-27T00:30", "10-28T01:30"));
}

TEST(CronZone, IntervalGoesOnThroughAGapAndAnOverlap) {
  EXPECT_THAT(instants("*/30 * * * *", utc(3, 31, 0, 0), utc(3, 31, 2, 0)),
              ElementsAre("03-31T00:30", "03-31T01:00", "03-31T01:30", "03-31T02:00"));
  EXPECT_THAT(instants("*/30 * * * *", utc(10, 27, 0, 0), utc(10, 27, 2, 0)),
              ElementsAre("10-27T00:30", "10-27T01:00", "10-27T01:30", "10-27T02:00"));
}

// clang-format off: the header's own lines
Cron example_of_the_header() {
  const latchkey::Cron nightly("30 2 * * *", "Europe/Berlin");  // each night at 02:30
  const latchkey::Cron quarters("*/15 9-17 * * mon-fri");       // UTC
  return quarters.next(utc(3, 1, 12, 0)) < nightly.next(utc(3, 1, 12, 0)) ? quarters : nightly;
}
// clang-format on

TEST(CronZone, ExampleOfTheHeader) {
#if defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L
  EXPECT_EQ(example_of_the_header().text(), "*/15 9-17 * * mon-fri UTC");
#else
  EXPECT_THROW(example_of_the_header(), std::invalid_argument);
#endif
}

TEST(CronZone, FixedOffsetsAreKnownWithoutADatabase) {
  EXPECT_EQ(Cron("30 2 * * *").next(utc(3, 31, 0, 0)), utc(3, 31, 2, 30));
  EXPECT_EQ(Cron("30 2 * * *", "+05:45").next(utc(3, 30, 12, 0)), utc(3, 30, 20, 45));
  EXPECT_EQ(Cron("30 2 * * *", "-0330").next(utc(3, 31, 0, 0)), utc(3, 31, 6, 0));
  EXPECT_EQ(Cron("30 2 * * *", "+02").text(), "30 2 * * * +02");
}

TEST(CronZone, NamedZoneIsHadOrRefusedWithASentence) {
#if defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L
  const Cron nightly("30 2 * * *", "Europe/Berlin");
  EXPECT_EQ(nightly.next(utc(3, 30, 12, 0)), utc(3, 31, 1, 0));
  EXPECT_EQ(nightly.next(utc(10, 26, 12, 0)), utc(10, 27, 0, 30));
  EXPECT_EQ(nightly.next(utc(10, 27, 0, 30)), utc(10, 28, 1, 30));
  const char* const expected = "no time zone 'Europe/Berlni'; expected UTC, an offset";
#else
  const char* const expected =
      "the time zone 'Europe/Berlni' cannot be had: this latchkey was built with a standard "
      "library without time zones";
#endif
  try {
    const Cron wrong("30 2 * * *", "Europe/Berlni");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr(expected));
  }
}

TEST(CronFields, MeanWhatCronSays) {
  const auto next = [](const char* expression, SysSeconds after) {
    return detail::instant_text(Cron(expression).next(after)).substr(5, 11);
  };
  const SysSeconds friday = utc(3, 1, 12, 0);
  EXPECT_EQ(next("*/15 9-17 * * mon-fri", utc(3, 1, 17, 50)), "03-04T09:00");
  EXPECT_EQ(next("10-50/20 * * * *", friday), "03-01T12:10");
  EXPECT_EQ(next("5/20 * * * *", friday), "03-01T12:05");
  EXPECT_EQ(next("0 0 13 * 5", friday), "03-08T00:00") << "either day counts";
  EXPECT_EQ(next("0 0 */2 * 7", utc(3, 3, 1, 0)), "03-17T00:00") << "a star asks for both";
  EXPECT_EQ(next("0 0 29 feb *", friday), "02-29T00:00");
  EXPECT_EQ(next("0 12 1 JAN,apr *", friday), "04-01T12:00");
  EXPECT_EQ(next("@daily", friday), "03-02T00:00");
  EXPECT_EQ(next("@yearly", friday), "01-01T00:00");
}

TEST(CronFields, WrongExpressionIsNamed) {
  const auto sentence = [](const char* expression) -> std::string {
    try {
      const Cron wrong(expression);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(sentence("61 * * * *"),
              HasSubstr("the minute '61' of a cron expression: expected 0 to 59"));
  EXPECT_THAT(
      sentence("0 0 * * mo"),
      HasSubstr("the day of the week 'mo' of a cron expression: expected 0 to 7 or sun to"));
  EXPECT_THAT(sentence("*/0 * * * *"), HasSubstr("the minute '*/0'"));
  EXPECT_THAT(sentence("5-1 * * * *"), HasSubstr("the minute '5-1'"));
  EXPECT_THAT(sentence("0 0 * *"), HasSubstr("'0 0 * *' has 4 fields; expected minute, hour"));
  EXPECT_THAT(sentence("0 0 31 2 *"), HasSubstr("has no instant: no month has such a day"));
  EXPECT_THAT(sentence("@often"), HasSubstr("'@often' has 1 fields"));
}

}  // namespace
}  // namespace latchkey
