// The time that readers of one key take grows in proportion to their number.
#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>

#include <gtest/gtest.h>
#include <time.h>

#include "testing/simulator/world/process.hpp"
#include "testing/simulator/world/sim_clock.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;

/// The time that this thread has had a processor for.
std::chrono::nanoseconds processor_time() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

/// One process whose store answers at once. Readers queue while a writer holds. When the writer
/// releases, all readers are granted together, and they release one after the other.
class ReaderQueue final : private ProcessHost {
 public:
  explicit ReaderQueue(std::size_t readers) : readers_(readers) { settings_.pushes = false; }

  std::chrono::duration<double> run() {
    Process process(0, clock_, settings_, 1, host());
    const auto start = processor_time();
    Call& writer = acquire(process, LockType::WRITE);
    for (std::size_t reader = 0; reader < readers_; ++reader) acquire(process, LockType::READ);
    release(process, writer);
    EXPECT_EQ(granted_, 1 + readers_);
    for (Call& call : calls_) {
      if (&call != &writer) release(process, call);
    }
    const auto took = processor_time() - start;
    EXPECT_TRUE(process.idle());
    return took;
  }

 private:
  ProcessHost& host() noexcept { return *this; }

  Call& acquire(Process& process, LockType type) {
    Call& call = calls_.emplace_back();
    call.owner = Owner::make();
    call.type = type;
    call.asked = clock_.now();
    call.forever = true;
    process.handle(process.at("k"),
                   [&](Coordinator& its, EventContext& context) { its.acquire(call, context); });
    return call;
  }

  void release(Process& process, Call& held) {
    process.handle(process.at("k"), [&](Coordinator& its, EventContext& context) {
      its.release(*held.hold, held.type, true, Clock::time_point::min(), nullptr, context);
    });
  }

  // Grants every request: the coordinator requests the READs only after the WRITE has ended.
  bool answers_at_once(Process&, Request&, Outcome& outcome) override {
    outcome.kind = Outcome::Kind::granted;
    return true;
  }
  void submitted(Process&, Request&) override {
    ADD_FAILURE() << "the store answers every request at once";
  }
  void woken(Process&, Call& call) override {
    if (call.answer == Answer::granted) ++granted_;
  }
  // LockSpace also reads the due time after each event.
  void after_event(Process&, Coordinator& coordinator) override { (void)coordinator.due(); }

  std::size_t readers_;
  std::size_t granted_ = 0;
  Clock::duration truth_{};
  SimClock clock_{truth_, 100s};
  CoordinatorSettings settings_;
  std::deque<Call> calls_;
};

/// The shortest of five runs, which other processes disturb least.
double shortest_seconds(std::size_t readers) {
  double least = std::numeric_limits<double>::max();
  for (int run = 0; run < 5; ++run) least = std::min(least, ReaderQueue(readers).run().count());
  return least;
}

// 32 times as many readers take 32 times as long, and up to 4 times that where the caches and the
// memory at hand suffice for the few only. A visit to each hold for each reader would take 1 024
// times as long, and a visit to each hold for each waiter and event 32 768 times.
TEST(ReadersOfOneKey, TakeTimeProportionalToTheirNumber) {
  static_cast<void>(shortest_seconds(12'800));  // warms the pools
  const double few = shortest_seconds(400), many = shortest_seconds(12'800);
  RecordProperty("few_us", std::to_string(few * 1'000'000));
  RecordProperty("many_us", std::to_string(many * 1'000'000));
  EXPECT_LT(many, 8 * 32 * few);
}

}  // namespace
}  // namespace latchkey::sim
