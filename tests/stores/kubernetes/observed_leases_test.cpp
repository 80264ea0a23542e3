// The rule of observed time: by examples, and for all short histories of three candidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "stores/kubernetes/observed_leases.hpp"

namespace latchkey {
namespace {

using namespace detail::kubernetes;
using namespace std::chrono_literals;

constexpr Clock::time_point start{1000h};

LeaseObject lease_of(const std::string& holder, std::int64_t seconds, const std::string& renewed,
                     const std::string& version) {
  return {"billing", version, {holder, seconds, 1, {}, renewed}, {}};
}

TEST(ObservedLeases, ADurationCountsFromWhenItWasSeen) {
  ObservedLeases seen;
  EXPECT_EQ(seen.standing("billing", "me", start), Standing::free);
  seen.see(lease_of("you", 15, "long ago", "1"), start);
  EXPECT_EQ(seen.standing("billing", "me", start + 14s), Standing::busy);
  EXPECT_EQ(seen.standing("billing", "you", start + 14s), Standing::mine);
  EXPECT_EQ(seen.left("billing", start + 5s), 10s);
  EXPECT_EQ(seen.standing("billing", "me", start + 15s), Standing::ended);
  EXPECT_EQ(seen.left("billing", start + 20s), 0s);
}

TEST(ObservedLeases, OnlyAChangedRecordBeginsAnew) {
  ObservedLeases seen;
  seen.see(lease_of("you", 15, "a", "1"), start);
  seen.see(lease_of("you", 15, "a", "2"), start + 10s);  // somebody has written a label
  EXPECT_EQ(seen.standing("billing", "me", start + 15s), Standing::ended);
  seen.see(lease_of("you", 15, "b", "3"), start + 14s);
  EXPECT_EQ(seen.standing("billing", "me", start + 28s), Standing::busy);
  seen.see(lease_of("", 1, "c", "4"), start + 20s);
  EXPECT_EQ(seen.standing("billing", "me", start + 20s), Standing::free);
  seen.forget("billing");
  EXPECT_EQ(seen.standing("billing", "me", start + 20s), Standing::free);
}

TEST(ObservedLeases, AWatchThatLagsBehindIsIgnored) {
  ObservedLeases seen;
  seen.see(lease_of("me", 15, "b", "12"), start);
  seen.hear(lease_of("", 1, "a", "9"), start);
  EXPECT_EQ(seen.standing("billing", "me", start), Standing::mine);
  seen.hear(lease_of("you", 15, "c", "13"), start);
  EXPECT_EQ(seen.standing("billing", "me", start), Standing::busy);
}

// A server whose data was restored counts from an earlier version: its replies are believed, or a
// holder that renews would look dead.
TEST(ObservedLeases, ARepliedVersionIsBelieved) {
  ObservedLeases seen;
  seen.see(lease_of("you", 15, "b", "900"), start);
  seen.see(lease_of("you", 15, "c", "17"), start + 14s);
  EXPECT_EQ(seen.standing("billing", "me", start + 20s), Standing::busy);
}

/// The server, and up to three candidates of which each reads, decides by the rule, and writes. A
/// second passes only as an event of its own. A candidate that leads believes so until its duration
/// after the moment before its write.
class World {
 public:
  static constexpr std::size_t most_candidates = 3;
  static constexpr auto duration = 2s;

  /// `hasty`: candidates do not wait for the duration, as if each trusted another's clock.
  explicit World(bool hasty = false) : hasty_(hasty) {}

  /// Nobody believes while another one does.
  [[nodiscard]] bool is_safe() const {
    int leaders = 0;
    for (const Candidate& each : all_) leaders += each.believes_until > now_ ? 1 : 0;
    return leaders <= 1;
  }
  void pass() { now_ += 1s; }
  void read(int who) {
    Candidate& me = all_[static_cast<std::size_t>(who)];
    me.read = stored_;
    if (stored_) me.seen.see(*stored_, now_);
  }
  /// Writes what it decides of what it has read, if that is still the version.
  void write(int who) {
    Candidate& me = all_[static_cast<std::size_t>(who)];
    const std::string id(1, static_cast<char>('a' + who));
    const Standing standing = me.seen.standing("billing", id, now_);
    const bool is_current = (me.read ? me.read->version : "") == (stored_ ? stored_->version : "");
    if ((standing == Standing::busy && !hasty_) || !is_current) return;
    store(id);
    me.believes_until = now_ + duration;
    me.read = stored_;
    me.seen.see(*stored_, now_);
    taken_ += 1;
  }
  void release(int who) {
    Candidate& me = all_[static_cast<std::size_t>(who)];
    me.believes_until = start;
    const bool is_current = (me.read ? me.read->version : "") == (stored_ ? stored_->version : "");
    const std::string id(1, static_cast<char>('a' + who));
    if (is_current && stored_ && stored_->record.holder == id) store({});
  }
  [[nodiscard]] int taken() const { return taken_; }

 private:
  struct Candidate {
    ObservedLeases seen;
    std::optional<LeaseObject> read;
    Clock::time_point believes_until = start;
  };
  void store(const std::string& holder) {
    const std::string version = std::to_string(++version_);
    stored_ = lease_of(holder, holder.empty() ? 1 : 2, version, version);
  }

  const bool hasty_;
  std::array<Candidate, most_candidates> all_{};
  std::optional<LeaseObject> stored_;
  Clock::time_point now_ = start + 1s;
  int version_ = 0;
  int taken_ = 0;
};

struct Explored {
  long histories = 0;
  long unsafe = 0;
  int most_taken = 0;
};

/// The moves: a second passes; each candidate reads, writes or releases.
void explore(const World& world, int depth, int candidates, Explored& found) {
  found.unsafe += world.is_safe() ? 0 : 1;
  if (depth == 0) {
    ++found.histories;
    found.most_taken = std::max(found.most_taken, world.taken());
    return;
  }
  World passed = world;
  passed.pass();
  explore(passed, depth - 1, candidates, found);
  for (int who = 0; who < candidates; ++who) {
    World read = world, written = world, released = world;
    read.read(who);
    explore(read, depth - 1, candidates, found);
    written.write(who);
    explore(written, depth - 1, candidates, found);
    released.release(who);
    explore(released, depth - 1, candidates, found);
  }
}

TEST(ObservedLeases, NoShortHistoryHasTwoLeaders) {
  Explored of_three, of_two;
  explore(World(), 5, 3, of_three);
  EXPECT_EQ(of_three.histories, 100'000);
  EXPECT_EQ(of_three.unsafe, 0);
  explore(World(), 7, 2, of_two);
  EXPECT_EQ(of_two.histories, 823'543);
  EXPECT_EQ(of_two.unsafe, 0);
  EXPECT_GE(of_two.most_taken, 6);
}

TEST(ObservedLeases, CandidatesThatDoNotWaitWouldBeNoticed) {
  Explored found;
  explore(World(/*hasty=*/true), 4, 2, found);
  EXPECT_GT(found.unsafe, 0);
}

// Deeper, with two candidates that take over from one another.
TEST(ObservedLeases, ATakeoverWaitsForTheDuration) {
  World world;
  world.read(0);
  world.write(0);
  world.read(1);
  world.pass();
  world.write(1);
  EXPECT_EQ(world.taken(), 1) << "it was seen a second ago";
  world.pass();
  world.write(1);
  EXPECT_EQ(world.taken(), 2);
  EXPECT_TRUE(world.is_safe());
  world.write(0);  // the old leader has read an old version
  EXPECT_EQ(world.taken(), 2);
  world.release(1);
  world.read(2);
  world.write(2);
  EXPECT_EQ(world.taken(), 3) << "after a release nobody waits";
  EXPECT_TRUE(world.is_safe());
}

}  // namespace
}  // namespace latchkey
