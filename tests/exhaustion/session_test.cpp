// A session with a Redis server whose allocations fail where nothing may be thrown.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <cstddef>

#include "exhaustion/scarce_memory.hpp"
#include "redis/session/session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

/// More than what is tried here allocates at once.
constexpr std::size_t most_allocations = 6;

class SessionWithoutMemory : public SessionTest {
 protected:
  /// Runs `act` once for each of its allocations, which fails. `prepare` comes before it.
  template <class Prepare, class Act>
  void for_each_allocation(Prepare&& prepare, Act&& act) {
    for (std::size_t nth = 1; nth <= most_allocations; ++nth) {
      prepare();
      sink.outcomes.clear();
      tests::fail_allocation(nth);
      act();
      tests::allocation_failed();
      drain();
      ASSERT_EQ(sink.outcomes.size(), 1U) << "allocation " << nth;
      EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
      if (session.stage() != Session::Stage::down) lose();
    }
  }
  void send_one() {
    connect_after_pause();
    settle(11, "0123456789012345678901234567890123456789");
    submit(Verb::acquire, "k");
    sent();
  }
};

// The run_id of the server was copied, which ended the process.
TEST_F(SessionWithoutMemory, ALostConnectionNeedsNone) {
  Failure lost{false, "lost"};
  for_each_allocation([&] { send_one(), lost = {false, "lost"}; },
                      [&] { session.failed(std::move(lost), now); });
}

TEST_F(SessionWithoutMemory, AnOverdueReplyNeedsNone) {
  for_each_allocation([&] { send_one(), now += timeout + 1ms; }, [&] { session.tick(now); });
}

TEST_F(SessionWithoutMemory, AServerThatIsGivenUpNeedsNone) {
  for_each_allocation([&] { send_one(), now += 2 * timeout + 1ms; },
                      [&] {
                        session.tick(now);
                        EXPECT_TRUE(session.trouble());
                      });
}

TEST_F(SessionWithoutMemory, ARequestThatIsNeverSentNeedsNone) {
  for_each_allocation([&] { submit(Verb::acquire, "k"), now += timeout + 1ms; },
                      [&] { session.tick(now); });
}

TEST_F(SessionWithoutMemory, AnAnswerThatIsNotRedisNeedsNone) {
  const std::string html = "HTTP/1.1 400 Bad Request\r\n\r\n";
  for_each_allocation([&] { send_one(); },
                      [&] {
                        session.received(html, now);
                        Delivery delivery;
                        while (session.next(delivery)) continue;
                        ASSERT_TRUE(session.trouble());
                        session.failed({false, {}}, now);
                      });
}

}  // namespace
}  // namespace latchkey::detail::redis
