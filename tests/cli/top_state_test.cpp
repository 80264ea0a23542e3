// The parts of `latchkey ls` and `top` that decide without I/O.
// tidy: long-file because its tests make the states of locks alike.
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "cli/connection.hpp"
#include "cli/list/scan.hpp"
#include "cli/top/observed_locks.hpp"
#include "cli/top/top_controls.hpp"
#include "cli/top/top_view.hpp"

namespace latchkey::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Keys = std::vector<std::string>;

constexpr ObservedLocks::TimePoint begin{1000s};

LockInfo held(const std::string& key, const std::string& holder, std::chrono::milliseconds left) {
  LockInfo info;
  info.key = key;
  info.locked = true;
  info.holders.push_back({holder, 1, left, {}});
  return info;
}
LockInfo unlocked(const std::string& key) {
  LockInfo info;
  info.key = key;
  return info;
}

ListPage waited_for(const Keys& names, const std::vector<std::uint64_t>& waiters) {
  ListPage page;
  page.names = names;
  page.waiters = waiters;
  page.total = names.size();
  return page;
}

LockRow row_of(const ObservedLocks& locks, const std::string& key,
               ObservedLocks::TimePoint now = begin) {
  for (LockRow& row : locks.rows({}, now)) {
    if (row.key == key) return row;
  }
  return {};
}

TEST(Pacer, SpendsNoMoreThanItsRate) {
  Pacer pacer(1'000, 100ms, begin);
  EXPECT_EQ(pacer.available(begin), 100U);
  pacer.spend(300);  // a debt
  EXPECT_EQ(pacer.available(begin), 0U);
  EXPECT_EQ(pacer.due(), begin + 201ms);
  EXPECT_EQ(pacer.available(begin + 200ms), 0U);
  EXPECT_EQ(pacer.available(begin + 201ms), 1U);
  EXPECT_EQ(pacer.available(begin + 1h), 1'000U) << "no more than a second's worth is saved up";
}

TEST(ObservedLocks, WaitersThatAnInspectionFoundAreForgottenWithTheNextList) {
  ObservedLocks locks;
  locks.found(Keys{"a"});
  LockInfo info = held("a", "x:1", 30s);
  info.queue = {"x:2", "x:3"};
  locks.inspected(std::vector{info}, begin);
  EXPECT_EQ(row_of(locks, "a").waiters, 2U);
  info.queue = {"x:3"};
  locks.inspected(std::vector{info}, begin);
  EXPECT_EQ(row_of(locks, "a").waiters, 1U);
  locks.awaited(waited_for({}, {}));
  EXPECT_EQ(row_of(locks, "a").waiters, 0U);
}

TEST(ObservedLocks, CountsTheTimeOfAHolderFromWhenItIsFirstSeen) {
  ObservedLocks locks;
  locks.found(Keys{"a"});
  EXPECT_EQ(row_of(locks, "a").held, std::nullopt);
  locks.inspected(std::vector{held("a", "x:1", 30s)}, begin);
  EXPECT_EQ(row_of(locks, "a", begin + 5s).held, 5s);
  EXPECT_TRUE(row_of(locks, "a").held_longer);
  EXPECT_EQ(row_of(locks, "a", begin + 5s).left, 25s);
  EXPECT_EQ(row_of(locks, "a", begin + 1h).left, 0s);
  locks.inspected(std::vector{held("a", "x:1", 30s)}, begin + 10s);
  EXPECT_EQ(row_of(locks, "a", begin + 10s).held, 10s);
  locks.inspected(std::vector{held("a", "x:2", 30s)}, begin + 20s);
  EXPECT_EQ(row_of(locks, "a", begin + 21s).held, 1s);
  EXPECT_FALSE(row_of(locks, "a").held_longer);
}

TEST(ObservedLocks, SaysHowLongAgoAHolderWasAskedAndNotOfTheNextOne) {
  ObservedLocks locks;
  locks.found(Keys{"a"});
  LockInfo info = held("a", "x:1", 30s);
  locks.inspected(std::vector{info}, begin);
  EXPECT_EQ(row_of(locks, "a").revoked, std::nullopt);
  info.holders.push_back({"x:2", 1, 30s, {}, 9s});
  info.holders.push_back({"x:3", 1, 30s, {}, 4s});
  locks.inspected(std::vector{info}, begin);
  EXPECT_EQ(row_of(locks, "a", begin + 2s).revoked, 6s) << "the last request";
  EXPECT_THAT(row_json(row_of(locks, "a", begin + 2s)), HasSubstr(R"("revoked_ms":6000,)"));
  locks.inspected(std::vector{held("a", "x:4", 30s)}, begin + 3s);
  EXPECT_EQ(row_of(locks, "a", begin + 3s).revoked, std::nullopt);
  EXPECT_THAT(row_json(row_of(locks, "a", begin + 3s)), HasSubstr(R"("revoked_ms":null,)"));
}

// A document of MongoDB with a wrong field is locked by nobody knows whom: it ended the program.
TEST(ObservedLocks, ALockedKeyWhoseHolderCannotBeReadIsShownWithoutOne) {
  ObservedLocks locks;
  locks.found(Keys{"a"});
  LockInfo unreadable = unlocked("a");
  unreadable.locked = true;
  locks.inspected(std::vector{unreadable}, begin);
  locks.inspected(std::vector{unreadable}, begin + 5s);
  const LockRow row = row_of(locks, "a", begin + 7s);
  EXPECT_EQ(row.type, "REENTRANT");
  EXPECT_EQ(row.holder, "");
  EXPECT_EQ(row.holders, 0U);
  EXPECT_EQ(row.held, 7s);
  EXPECT_EQ(row.left, std::nullopt);
  EXPECT_FALSE(row.endless);
  locks.inspected(std::vector{held("a", "x:1", 30s)}, begin + 10s);
  EXPECT_EQ(row_of(locks, "a", begin + 10s).holder, "x:1");
  EXPECT_EQ(row_of(locks, "a", begin + 10s).held, 0s);
}

TEST(ObservedLocks, ContentionIsTheShareOfSamplesInWhichSomebodyWaited) {
  ObservedLocks locks;
  locks.found(Keys{"a", "b"});
  locks.awaited(waited_for({"a"}, {3}));
  locks.awaited(waited_for({}, {}));
  locks.awaited(waited_for({"a"}, {1}));
  locks.awaited(waited_for({"a", "b"}, {2, 7}));
  EXPECT_EQ(row_of(locks, "a").contention, 75U);
  EXPECT_EQ(row_of(locks, "a").waiters, 2U);
  EXPECT_EQ(row_of(locks, "b").contention, 25U);
  EXPECT_EQ(locks.all_waiters(), 9U);
  EXPECT_EQ(locks.awaited_keys(), 2U);
  for (int sample = 0; sample < 64; ++sample) locks.awaited(waited_for({"b"}, {1}));
  EXPECT_EQ(row_of(locks, "a").contention, 0U) << "the last 64 samples count";
  EXPECT_EQ(row_of(locks, "b").contention, 100U);
}

TEST(ObservedLocks, InspectsWhatIsVisibleThenWhatIsAwaitedThenTheOthersInTurn) {
  ObservedLocks locks;
  locks.found(Keys{"a", "b", "c", "d"});
  locks.awaited(waited_for({"c", "e"}, {1, 5}));
  EXPECT_THAT(locks.to_inspect(Keys{"d", "gone"}, 4), ElementsAre("d", "e", "c", "a"));
  EXPECT_THAT(locks.to_inspect({}, 3), ElementsAre("e", "c", "b"));
  EXPECT_THAT(locks.to_inspect({}, 0), IsEmpty());
  EXPECT_THAT(locks.to_inspect({}, 100), SizeIs(5));
}

TEST(ObservedLocks, ForgetsLocksThatAreFreeAndThatAScanDoesNotFind) {
  ObservedLocks locks;
  locks.found(Keys{"a", "b"});
  locks.awaited(waited_for({"c"}, {1}));
  locks.inspected(std::vector{unlocked("a"), held("b", "x:1", 30s), unlocked("c")}, begin);
  EXPECT_EQ(locks.size(), 2U);
  EXPECT_EQ(row_of(locks, "c").type, "free") << "somebody still waits for it";
  locks.end_scan();
  locks.found(Keys{"d"});
  locks.end_scan();
  EXPECT_EQ(row_of(locks, "b").key, "");
  EXPECT_THAT(locks.to_inspect({}, 100), SizeIs(2));
}

TEST(ObservedLocks, SaysWhichTypeALockHas) {
  ObservedLocks locks;
  locks.found(Keys{"plain", "fair", "fenced", "write"});
  LockInfo fair = held("fair", "x:1", 30s), fenced = held("fenced", "x:1", 30s),
           write = held("write", "x:1", 30s);
  fair.queue.emplace_back("x:2");
  fenced.fencing_token = 7;
  write.type = LockType::WRITE;
  locks.inspected(std::vector{held("plain", "x:1", 30s), fair, fenced, write}, begin);
  EXPECT_EQ(row_of(locks, "plain").type, "REENTRANT");
  EXPECT_EQ(row_of(locks, "fair").type, "FAIR");
  EXPECT_EQ(row_of(locks, "fair").waiters, 1U);
  EXPECT_EQ(row_of(locks, "fenced").type, "FENCED");
  EXPECT_EQ(row_of(locks, "write").type, "WRITE");
}

TEST(LockRow, IsOrderedByEachColumn) {
  ObservedLocks locks;
  locks.found(Keys{"a", "b", "c"});
  locks.awaited(waited_for({"b", "c"}, {1, 5}));
  locks.inspected(std::vector{held("a", "x:1", 10s), held("c", "x:1", 5s)}, begin);
  locks.inspected(std::vector{held("b", "x:1", 20s)}, begin + 1s);
  const auto keys = [&](SortKey key, bool reverse = false, const std::string& filter = {}) {
    Keys all;
    for (const LockRow& row : locks.rows({key, reverse, filter}, begin + 2s))
      all.push_back(row.key);
    return all;
  };
  EXPECT_THAT(keys(SortKey::contention), ElementsAre("c", "b", "a"));
  EXPECT_THAT(keys(SortKey::waiters), ElementsAre("c", "b", "a"));
  EXPECT_THAT(keys(SortKey::waiters, true), ElementsAre("a", "b", "c"));
  EXPECT_THAT(keys(SortKey::held), ElementsAre("a", "c", "b"));
  EXPECT_THAT(keys(SortKey::left), ElementsAre("c", "a", "b"));
  EXPECT_THAT(keys(SortKey::name), ElementsAre("a", "b", "c"));
  EXPECT_THAT(keys(SortKey::name, true, "b"), ElementsAre("b"));
  EXPECT_THAT(keys(SortKey::name, false, "x:1"), SizeIs(3)) << "the holder is filtered, too";
}

TEST(TopControls, UnderstandKeysAndSequencesInPieces) {
  TopControls controls{RowOrder{}};
  controls.type("hr", 10);
  EXPECT_EQ(controls.order().key, SortKey::held);
  EXPECT_TRUE(controls.order().reverse);
  controls.type("\x1b[B\x1b[B\x1b[6", 10);
  EXPECT_EQ(controls.first(), 2U);
  controls.type("~", 10);
  EXPECT_EQ(controls.first(), 12U);
  controls.type("\x1b[A", 10);
  EXPECT_EQ(controls.first(), 11U);
  controls.limit_rows(5);
  EXPECT_EQ(controls.first(), 4U);
  controls.type("\x1b[5~", 10);
  EXPECT_EQ(controls.first(), 0U);
  controls.type("\x1b", 10);  // the key, which does nothing
  controls.type("/q/p\x7fx\r", 10);
  EXPECT_EQ(controls.order().filter, "q/x");
  EXPECT_FALSE(controls.quits() || controls.paused() || controls.edits_filter());
  controls.type("pq", 10);
  EXPECT_TRUE(controls.quits() && controls.paused());
  controls.type("\r", 10);
  EXPECT_TRUE(controls.shows_details());
  controls.type("\x1b[B\r", 10);
  EXPECT_FALSE(controls.shows_details());
  EXPECT_EQ(controls.first(), 1U) << "arrows choose the lock";
}

TEST(TopView, FillsAScreenOfAnySize) {
  std::vector<LockRow> rows(100);
  for (LockRow& row : rows) row.key.assign(300, 'k').append("\x1b[2J");
  TopView view;
  view.rows = rows;
  for (const Size size : {Size{80, 24}, Size{200, 60}, Size{20, 3}, Size{1, 1}}) {
    const std::vector<std::string> lines = screen_lines(view, size);
    EXPECT_EQ(lines.size(), size.lines);
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const bool heads = line == 3;
      EXPECT_EQ(lines[line].size(), size.columns + (heads ? 8 : 0)) << line;
      EXPECT_EQ(lines[line].find("\x1b[2J"), std::string::npos);
    }
  }
}

// The column showed the method, and its end was cut off: the host and the process.
TEST(TopView, ANarrowColumnShowsTheHostAndTheProcess) {
  std::vector<LockRow> rows(2);
  rows[0].holder = "Bank::deposit (bank.cpp:12) on web-3, process 7";
  rows[1].holder = "on a-host-with-a-name-of-33-letters";
  EXPECT_THAT(table_text(rows, 80), AllOf(HasSubstr(" web-3, process 7 "), Not(HasSubstr("Bank")),
                                          HasSubstr(" a-host-with-a-name")));
  EXPECT_THAT(table_text(rows, 200), HasSubstr(rows[0].holder));
  rows[0].holder += " (bank), since 2026-11-27T12:15:00Z";
  rows[1].holder = "on ip-10-0-12-34.eu-west-1.compute.internal, process 12345 (bank)";
  EXPECT_THAT(table_text(rows, 80),
              AllOf(HasSubstr(" web-3, process 7 "), HasSubstr(" ip-10-0-12+, process 12345")));
}

TEST(TopView, TheColumnOfRequestsIsThereOnlyIfALockOnTheScreenWasAskedFor) {
  std::vector<LockRow> rows(3);
  for (LockRow& row : rows) row.holder = "x:1";
  EXPECT_THAT(table_text(rows, 80), AllOf(HasSubstr("   LEFT HOLDER"), Not(HasSubstr("ASKED"))));
  rows[1].revoked = 3'200ms;
  EXPECT_THAT(table_text(rows, 80), AllOf(HasSubstr("   LEFT  ASKED HOLDER"),
                                          HasSubstr("   3.2s x:1 "), HasSubstr("      - x:1 ")));
  TopView view;
  view.rows = rows;
  view.shows_details = true;
  view.first = 1;
  const auto screen = [&] { return screen_lines(view, Size{80, 24}); };
  EXPECT_THAT(screen(), Contains(StartsWith("asked       3.2s ago to release it ")));
  view.first = 2;
  EXPECT_THAT(screen(), Contains(StartsWith("asked       - ")));
  EXPECT_THAT(screen()[3], Not(HasSubstr("ASKED"))) << "the second row has scrolled away";
}

TEST(TopView, EnterShowsAllOfTheFirstRow) {
  std::vector<LockRow> rows(2);
  rows[1].key = std::string(100, 'k');
  rows[1].type = "WRITE";
  rows[1].holder =
      "Bank::deposit (bank.cpp:12) on web-3, process 7 (bank), since 2026-11-27T12:15:00Z";
  TopView view;
  view.rows = rows;
  view.first = 1;
  view.shows_details = true;
  const std::vector<std::string> lines = screen_lines(view, {80, 24});
  ASSERT_THAT(lines, SizeIs(24));
  std::string text;
  for (const std::string& line : lines)
    text += line.substr(line.starts_with("\x1b") ? 4 : 0, 80) + '\n';
  EXPECT_THAT(text, AllOf(HasSubstr("key         " + std::string(68, 'k')),
                          HasSubstr("            " + std::string(32, 'k')),
                          HasSubstr("type        WRITE"), HasSubstr("holder      Bank::deposit"),
                          HasSubstr("1-27T12:15:00Z"), HasSubstr("Enter back")));
}

TEST(TopView, ShowsWhatATerminalWouldObeyAsText) {
  LockRow row;
  row.key = "a\x1b[2J\n\xff";
  row.held = 3'725s;
  row.held_longer = true;
  row.left = 1'500ms;
  const std::vector<LockRow> rows{row};
  EXPECT_THAT(table_text(rows, 100),
              AllOf(HasSubstr("a?[2J??"), HasSubstr(">1h02m"), HasSubstr(" 1.5s ")));
}

}  // namespace
}  // namespace latchkey::cli
