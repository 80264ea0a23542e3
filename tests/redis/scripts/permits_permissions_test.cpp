// The scripts of semaphores for a user who lacks a permission.
#include <string>
#include <vector>

#include "redis/scripts/permits_fixture.hpp"

namespace latchkey::tests {
namespace {

class PermitsWithoutACommand : public PermitsTest {
 protected:
  /// Three permits: one is held, the lease of one has ended, one is available.
  void prepare() {
    redis({"FLUSHALL"});
    EXPECT_EQ(acquire(2, 1, milliseconds(1'000)).kind, Kind::granted);
    pass(milliseconds(1'001));
    EXPECT_EQ(acquire(1).kind, Kind::granted);
  }
  /// A release of two permits is that of hold 2, which has them.
  void loses_none_without(const std::string& first, const std::string& second,
                          const Request& asked) {
    SCOPED_TRACE(std::string(to_string(asked.verb)) + " of " + std::to_string(asked.permits.taken) +
                 " without " + first + " and " + second);
    prepare();
    if (asked.verb == Verb::release && asked.permits.taken == 2) {
      EXPECT_EQ(acquire(2, 2).kind, Kind::granted);
    }
    ScriptClient user = as_user({"~*", server.all_channels(), "+@all", "-" + first, "-" + second});
    static_cast<void>(user.send(asked));
    EXPECT_EQ(std::stoll(available()) + members(), 3);
  }
  /// How many permits can be taken once all leases have ended.
  int grants_at_the_end() {
    pass(std::chrono::minutes(20));
    int granted = 0;
    for (std::uint64_t number = 100; number < 110; ++number) {
      if (acquire(number).kind == Kind::granted) ++granted;
    }
    return granted;
  }
};

TEST_F(PermitsWithoutACommand, EachRefusalNamesTheCommandAndNeverAreMorePermitsGranted) {
  int refusals = 0;
  for (const Verb verb : {Verb::acquire, Verb::renew, Verb::verify, Verb::expire, Verb::release,
                          Verb::inspect, Verb::force_release}) {
    LockInfo info;
    Request asked = request(verb, verb == Verb::acquire ? 7 : 1, verb == Verb::acquire ? 2 : 1);
    asked.info = &info;
    for (const std::string& command : commands_of(detail::redis::script_for(asked))) {
      SCOPED_TRACE(std::string(to_string(verb)) + " without " + command);
      prepare();
      const std::string rule = "-" + command;
      ScriptClient user = as_user({"~*", server.all_channels(), "+@all", rule});
      const Outcome outcome = user.send(asked);
      if (outcome.kind == Kind::refused) {
        ++refusals;
        EXPECT_NE(outcome.reason.find("lacks a permission, +" + command + " ("), std::string::npos)
            << outcome.reason;
      }
      EXPECT_LE(grants_at_the_end(), 3);
    }
  }
  EXPECT_GT(refusals, 10);
}

// A change that a forbidden command cuts short is undone by a command that was allowed a moment
// ago, so a second forbidden one changes nothing.
TEST_F(PermitsWithoutACommand, TwoForbiddenCommandsLoseNoPermitEither) {
  for (const Request& asked : {request(Verb::acquire, 7, 1), request(Verb::acquire, 7, 2),
                               request(Verb::release, 1, 1), request(Verb::release, 2, 2)}) {
    const auto commands = commands_of(detail::redis::script_for(asked));
    for (const std::string& first : commands) {
      for (const std::string& second : commands) loses_none_without(first, second, asked);
    }
  }
}

// A permit that is not recorded as taken is not taken.
TEST_F(PermitsWithoutACommand, AnAcquireThatCannotRecordItsPermitsTakesNone) {
  prepare();
  const std::string before = available();
  ScriptClient user = as_user({"~*", server.all_channels(), "+@all", "-zadd"});
  EXPECT_EQ(user.send(request(Verb::acquire, 7)).kind, Kind::refused);
  EXPECT_EQ(available(), before);
}

}  // namespace
}  // namespace latchkey::tests
