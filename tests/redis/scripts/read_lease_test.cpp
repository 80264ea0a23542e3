// Leases of READs that end: dropped by a writer, or shortened by expire.
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

class ReadLeaseScripts : public ScriptTest {
 protected:
  static constexpr auto read = LockType::READ;
  static constexpr auto write = LockType::WRITE;

  static std::string timeout(std::string_view tag, std::uint64_t number) {
    return std::string(tag) + ":" + owner(number) + ":rwlock_timeout:1";
  }
  /// The reader's lease ends, while the hash lives on for the others.
  void end_lease_of(std::uint64_t number) { redis({"DEL", timeout("{k}", number)}); }
};

// The hash lives as long as the longest lease that anybody asked for.
TEST_F(ReadLeaseScripts, AWriterDropsReadersWhoseLeasesHaveEndedAndTakesTheLock) {
  for (std::uint64_t number = 1; number <= 20; ++number) {
    asker.acquire("k", read, id(number), lease);
    end_lease_of(number);
  }
  Outcome outcome = asker.acquire("k", write, id(21), lease);
  for (int attempt = 1; attempt < 10 && outcome.kind == Kind::busy; ++attempt) {
    EXPECT_EQ(outcome.retry_after, milliseconds(1)) << "it is asked again at once";
    outcome = asker.acquire("k", write, id(21), lease);
  }
  EXPECT_EQ(outcome.kind, Kind::granted);
  EXPECT_EQ(hash("k"), (Fields{{"mode", "write"}, {owner(21) + ":write", "1"}}));
}

TEST_F(ReadLeaseScripts, AWriterWaitsNoLongerThanTheLongestLeaseThatIsLeft) {
  asker.acquire("k", read, id(1), 5 * lease);
  asker.acquire("k", read, id(2), lease);
  end_lease_of(1);
  const Outcome outcome = asker.acquire("k", write, id(3), lease);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_LE(outcome.retry_after.value_or(milliseconds(0)), lease);
  expect_ttl("k", lease);
  EXPECT_EQ(hash("k"), (Fields{{"mode", "read"}, {owner(2), "1"}}));
}

TEST_F(ReadLeaseScripts, ExpireShortensTheLeaseOfAReadAndOfItsHash) {
  asker.acquire("k", read, id(1), 5 * lease);
  asker.acquire("k", read, id(2), 2 * lease);
  EXPECT_EQ(asker.ask(Asker::about(Verb::expire, "k", read, id(1), lease)).kind, Kind::granted);
  expect_ttl(timeout("{k}", 1), lease);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(asker.ask(Asker::about(Verb::expire, "k", read, id(2), 9 * lease)).kind, Kind::granted)
      << "never later than before";
  expect_ttl(timeout("{k}", 2), 2 * lease);
  EXPECT_EQ(asker.ask(Asker::about(Verb::expire, "k", read, id(3), lease)).kind, Kind::gone);
}

}  // namespace
}  // namespace latchkey::tests
