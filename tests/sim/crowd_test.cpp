// What a crowd of readers of one key costs, and how that grows with the crowd.
#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>

#include <gtest/gtest.h>

#include "memory/lock_table.hpp"
#include "testing/simulator/process.hpp"
#include "testing/simulator/sim_clock.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;

/// One process whose store answers here and now. A writer holds while readers queue; it ends, all
/// of them are granted together, and release one after the other.
class Crowd final : private ProcessHost {
 public:
  explicit Crowd(std::size_t readers) : readers_(readers) { settings_.pushes = false; }

  /// The time that this takes the coordinator.
  std::chrono::duration<double> run() {
    Process process(0, clock_, settings_, 1, host());
    const auto start = std::chrono::steady_clock::now();
    Call& writer = acquire(process, LockType::WRITE);
    for (std::size_t reader = 0; reader < readers_; ++reader) acquire(process, LockType::READ);
    release(process, writer);
    EXPECT_EQ(granted_, 1 + readers_);
    for (Call& call : calls_) {
      if (&call != &writer) release(process, call);
    }
    const auto took = std::chrono::steady_clock::now() - start;
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

  bool answers_at_once(Process&, Request& request, Outcome& outcome) override {
    outcome = table_.apply(request, Clock::time_point(1h));
    return true;
  }
  void submitted(Process&, Request&) override { ADD_FAILURE() << "all is answered at once"; }
  void woken(Process&, Call& call) override {
    if (call.answer == Answer::granted) ++granted_;
  }
  // As the driver, which asks after each turn when something is due.
  void after_event(Process&, Coordinator& coordinator) override { (void)coordinator.due(); }

  std::size_t readers_;
  std::size_t granted_ = 0;
  Clock::duration truth_{};
  SimClock clock_{truth_, 100s};
  CoordinatorSettings settings_;
  detail::LockTable table_;
  std::deque<Call> calls_;
};

/// The least of a few, which other processes disturb least.
double seconds(std::size_t readers) {
  double least = std::numeric_limits<double>::max();
  for (int run = 0; run < 5; ++run) least = std::min(least, Crowd(readers).run().count());
  return least;
}

// Each event looked at each hold for each waiter: four times the readers took a thousand times as
// long. What is left for each event is one look at each hold, so sixteen times is what may be.
TEST(ReadersOfOneKey, DoNotCostTheCubeOfTheirNumber) {
  static_cast<void>(seconds(400));  // spare records, warm caches
  const double few = seconds(100), many = seconds(400);
  RecordProperty("few_us", std::to_string(few * 1'000'000));
  RecordProperty("many_us", std::to_string(many * 1'000'000));
  EXPECT_LT(many, 48 * few);
}

}  // namespace
}  // namespace latchkey::sim
