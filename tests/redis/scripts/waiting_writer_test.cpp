// The mark of a WRITE that waits, on a real server.
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

class WaitingWriterScripts : public ScriptTest {
 protected:
  static constexpr auto read = LockType::READ;
  static constexpr auto write = LockType::WRITE;
};

TEST_F(WaitingWriterScripts, AWriteThatWaitsForReadsKeepsNewReadsOut) {
  client.acquire("k", read, id(1), lease);
  const Outcome waits = client.acquire("k", write, id(2), lease, milliseconds(10'000));
  EXPECT_EQ(waits.kind, Kind::busy);
  EXPECT_EQ(redis({"GET", "latchkey_waiting_writer:{k}"}).text(), owner(2) + ":write");
  expect_ttl("latchkey_waiting_writer:{k}", milliseconds(10'000));
  EXPECT_EQ(client.acquire("k", read, id(3), lease).kind, Kind::busy);
  EXPECT_EQ(client.acquire("k", read, id(1), lease).kind, Kind::granted) << "it holds already";
  client.send(Verb::release, "k", read, id(1));
  const Outcome next = client.acquire("k", read, id(3), lease);
  EXPECT_EQ(next.kind, Kind::busy) << "the lock is free, and it is the WRITE's turn";
  EXPECT_GT(next.retry_after.value_or(milliseconds(0)), milliseconds(5'000));
  EXPECT_EQ(client.acquire("k", write, id(2), lease).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{"k"});
}

TEST_F(WaitingWriterScripts, AWriteThatDoesNotWaitKeepsNobodyOut) {
  client.acquire("k", read, id(1), lease);
  EXPECT_EQ(client.acquire("k", write, id(2), lease).kind, Kind::busy);
  EXPECT_EQ(client.acquire("k", read, id(3), lease).kind, Kind::granted);
}

}  // namespace
}  // namespace latchkey::tests
