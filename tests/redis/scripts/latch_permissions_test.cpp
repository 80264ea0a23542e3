// The scripts of latches for a user who lacks a permission.
#include <set>
#include <string>

#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

constexpr Verb latch_verbs[] = {Verb::latch_set, Verb::latch_down, Verb::latch_count,
                                Verb::latch_delete};

class LatchesWithoutACommand : public ScriptTest {
 protected:
  static Request request(Verb verb) {
    Request made = ScriptClient::make_request(verb, "k");
    made.tokens = 2;  // the count to be set
    return made;
  }
  /// An empty count: there is no latch.
  void prepare(const std::string& count) {
    redis({"FLUSHALL"});
    if (!count.empty()) redis({"SET", "k", count});
  }
};

TEST_F(LatchesWithoutACommand, EachRefusalNamesTheCommandAndChangesNothing) {
  std::set<std::string> refused, expected;
  for (const Verb verb : latch_verbs) {
    for (const std::string& command : commands_of(detail::redis::script_for(request(verb)))) {
      const std::string both = std::string(to_string(verb)) + " without " + command;
      SCOPED_TRACE(both);
      if (command != "publish") expected.insert(both);  // without it waiters poll
      for (const std::string count : {"", "1", "2"}) {
        prepare(count);
        const std::string rule = "-" + command;
        ScriptClient user = as_user({"~*", server.all_channels(), "+@all", rule});
        const Outcome outcome = user.send(request(verb));
        if (outcome.kind != Kind::refused) continue;
        refused.insert(both);
        EXPECT_NE(outcome.reason.find("lacks a permission, +" + command + " ("), std::string::npos)
            << outcome.reason;
        EXPECT_EQ(redis({"GET", "k"}).text(), count);
      }
    }
  }
  EXPECT_EQ(refused, expected);
}

}  // namespace
}  // namespace latchkey::tests
