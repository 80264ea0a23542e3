// A process that dies at any store leaves a segment in which each change was made or was not.
#include "host/store_observer.hpp"

#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>

#include "host/host_fixture.hpp"
#include "host/segment_check.hpp"
#include "support/fork.hpp"

namespace latchkey::tests {
namespace {

using Kind = Outcome::Kind;
using namespace std::chrono_literals;
using testing::Probe;

int stores_left = 0;
int stores_made = 0;

void die_at_the_last() noexcept {
  ++stores_made;
  if (--stores_left == 0) ::kill(::getpid(), SIGKILL);
}

/// Runs `act` in a child that dies at its store number `last`. False: it made fewer.
bool run_until_store(int last, const std::function<void()>& act) {
  const pid_t child = fork_child();
  if (child == 0) {
    stores_left = last;
    detail::host::store_observer = &die_at_the_last;
    act();
    detail::host::store_observer = nullptr;
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

/// A subscription to grants, or an acquire that takes a place in the process queue.
Request wait_in_line(Verb verb, const HoldId& id) {
  Request wait;
  wait.verb = verb;
  wait.key = "k";
  wait.id = id;
  wait.queues = true;
  wait.lease = 30s;
  return wait;
}

/// The first of `ids` holds "k", and the second waits for it.
void one_in_line(Probe& other, std::vector<HoldId>& ids, const TestSegment& /*segment*/) {
  ids = {other.fresh_id(), other.fresh_id()};
  other.acquire("k", LockType::REENTRANT, ids[0], 30s);
  other.send(wait_in_line(Verb::subscribe, ids[1]));
  other.send(wait_in_line(Verb::acquire, ids[1]));
}

struct Scene {
  const char* name;
  /// Fills the segment, from a process that lives.
  std::function<void(Probe&, std::vector<HoldId>&, const TestSegment&)> before;
  /// The work of the process that dies.
  std::function<void(Probe&, const std::vector<HoldId>&)> act;
};

std::vector<Scene> scenes() {
  const std::string longer(700, 'k');
  return {
      {"AnUncontendedAcquireAndRelease", [](Probe&, auto&, const auto&) {},
       [](Probe& own, const auto&) {
         const HoldId id = own.fresh_id();
         own.acquire("k", LockType::WRITE, id, 30s);
         own.send(Verb::release, "k", LockType::WRITE, id);
       }},
      {"ASecondUseOfAThinHold", [](Probe&, auto&, const auto&) {},
       [](Probe& own, const auto&) {
         for (int round = 0; round < 3; ++round) {
           const HoldId id = own.fresh_id();
           own.acquire("k", LockType::READ, id, 30s);
           own.send(Verb::release, "k", LockType::READ, id);
         }
         own.acquire("k", LockType::WRITE, own.fresh_id(), 30s);
       }},
      {"AThinHoldThatIsMovedToTheTable", [](Probe&, auto&, const auto&) {},
       [](Probe& own, const auto&) {
         const HoldId id = own.fresh_id();
         own.acquire("k", LockType::WRITE, id, 30s);
         own.inspect("k");
         own.send(Verb::release, "k", LockType::WRITE, id);
         own.acquire("k", LockType::WRITE, own.fresh_id(), 30s);
       }},
      {"AThinHoldOfALivingProcess",
       [](Probe& other, std::vector<HoldId>& ids, const auto&) {
         ids = {other.fresh_id()};
         other.acquire("k", LockType::REENTRANT, ids[0], 30s);
       },
       [](Probe& own, const auto&) {
         own.acquire("k", LockType::WRITE, own.fresh_id(), 30s);
         own.send(Verb::subscribe, "k", LockType::WRITE);
         own.renew("k", LockType::WRITE, own.fresh_id(), 30s);
       }},
      {"AThinHoldBesideWaiters", one_in_line,
       [](Probe& own, const std::vector<HoldId>& ids) {
         own.send(Verb::release, "k", LockType::REENTRANT, ids[0]);
         for (int round = 0; round < 2; ++round) {
           const HoldId id = own.fresh_id();
           own.acquire("k", LockType::REENTRANT, id, 30s);
           if (round == 1) own.inspect("k");
           own.send(Verb::release, "k", LockType::REENTRANT, id);
         }
       }},
      {"AKeyOfSeveralCells", [](Probe&, auto&, const auto&) {},
       [longer](Probe& own, const auto&) {
         const HoldId id = own.fresh_id();
         own.acquire(longer, LockType::FENCED, id, 30s);
         own.send(Verb::release, longer, LockType::FENCED, id);
       }},
      {"AReleaseThatNotifies",
       [](Probe& other, auto&, const auto&) { other.send(Verb::subscribe, "k", LockType::WRITE); },
       [](Probe& own, const auto&) {
         const HoldId id = own.fresh_id();
         own.acquire("k", LockType::WRITE, id, 30s);
         own.send(Verb::release, "k", LockType::WRITE, id);
       }},
      {"AHandOffToTheProcessInLine", one_in_line,
       [](Probe& own, const std::vector<HoldId>& ids) {
         std::this_thread::sleep_for(2ms);  // sleeps: the turn ends
         own.send(Verb::release, "k", LockType::REENTRANT, ids[0]);
       }},
      {"TheQueueOfFair",
       [](Probe& other, std::vector<HoldId>& ids, const auto&) {
         ids = {other.fresh_id(), other.fresh_id()};
         other.acquire("k", LockType::FAIR, ids[0], 30s);
         other.send(Verb::subscribe, "k", LockType::FAIR, ids[1]);
         other.acquire("k", LockType::FAIR, ids[1], 30s, 15s);
       },
       [](Probe& own, const std::vector<HoldId>& ids) {
         const HoldId id = own.fresh_id();
         own.acquire("k", LockType::FAIR, id, 30s, 15s);
         own.send(Verb::release, "k", LockType::FAIR, ids[0]);
       }},
      {"SeveralKeysAtOnce", [](Probe&, auto&, const auto&) {},
       [](Probe& own, const auto&) {
         const std::vector<std::string> keys{"k", "l", "m", "n", "o"};
         std::vector<Member> members;
         for (const std::string& key : keys) {
           members.push_back({.key = key, .type = LockType::FENCED, .id = own.fresh_id()});
         }
         Request all;
         all.verb = Verb::acquire_all;
         all.members = members;
         all.lease = 30s;
         own.send(all);
       }},
      {"Reaping",
       [](Probe& other, auto&, const TestSegment& segment) {
         const pid_t dead = fork_child();
         if (dead == 0) {
           Probe its(segment.backend(), {});
           its.acquire("k", LockType::FAIR, its.fresh_id(), 3000s);
           its.acquire("l", LockType::READ, its.fresh_id(), 3000s);
           its.send(Verb::subscribe, "m", LockType::WRITE);
           ::_exit(0);
         }
         ::waitpid(dead, nullptr, 0);
         other.send(Verb::subscribe, "k", LockType::WRITE);
       },
       [](Probe& own, const auto&) {
         own.acquire("l", LockType::WRITE, own.fresh_id(), 30s);
         own.acquire("k", LockType::WRITE, own.fresh_id(), 30s);
       }},
      {"ASemaphoreAndALatch", [](Probe&, auto&, const auto&) {},
       [](Probe& own, const auto&) {
         Request permits;
         permits.verb = Verb::acquire;
         permits.type = LockType::PERMIT;
         permits.key = "p";
         permits.id = own.fresh_id();
         permits.permits.total = 3;
         permits.permits.taken = 2;
         permits.lease = 30s;
         own.send(permits);
         Request latch;
         latch.verb = Verb::latch_set;
         latch.key = "k";
         latch.tokens = 2;
         own.send(latch);
         own.send(Verb::latch_down, "k");
         own.send(Verb::latch_down, "k");
       }},
  };
}

class CrashAtEveryStore : public ::testing::TestWithParam<Scene> {};

TEST_P(CrashAtEveryStore, LeavesAConsistentSegment) {
  const Scene& scene = GetParam();
  int last = 1;
  for (bool died = true; died; ++last) {
    const TestSegment segment;
    Probe survivor(segment.backend(), {});
    std::vector<HoldId> ids;
    scene.before(survivor, ids, segment);
    died = run_until_store(last, [&] {
      Probe own(segment.backend(), {});
      scene.act(own, ids);
      ::_exit(0);  // it has released nothing else
    });
    // The dead process holds nothing; the survivor holds as before, or has handed on.
    const HoldId id = survivor.fresh_id();
    for (const HoldId& held : ids) {
      Request leave = wait_in_line(Verb::leave, held);
      leave.type = LockType::FAIR;
      survivor.send(leave);
    }
    Outcome taken = survivor.acquire("k", LockType::WRITE, id, 30s);
    EXPECT_EQ(taken.kind, Kind::granted) << "after store " << last << ": " << taken.reason;
    EXPECT_EQ(survivor.send(Verb::release, "k", LockType::WRITE, id).kind, Kind::granted);
    EXPECT_EQ(detail::host::check_segment(segment.place()), std::vector<std::string>{})
        << "after store " << last;
    if (HasFailure()) break;
  }
  RecordProperty("stores", last);
  EXPECT_GT(last, 20);
}

INSTANTIATE_TEST_SUITE_P(Host, CrashAtEveryStore, ::testing::ValuesIn(scenes()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace latchkey::tests
