// Calls whose static probes check_probes.sh counts in gdb.
#include <latchkey/latchkey.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include <chrono>
#include <latch>
#include <memory>
#include <stop_token>
#include <thread>

using namespace std::chrono_literals;
using latchkey::Event;
using latchkey::LockType;

namespace {

/// Counts down when a call waits.
class WaitListener : public latchkey::Listener {
 public:
  void on_event(const Event& event) override {
    if (event.kind == Event::Kind::waiting) waits.count_down();
  }
  std::latch waits{1};
};

int deposits = 0;

void deposit(int id) {
  LOCKED("account:{id}", LockType::WRITE, 1s, 30s) AROUND(id) { ++deposits; };
}

void wait_until_lost(const latchkey::Hold& hold) {
  std::latch lost(1);
  const std::stop_callback count(hold.stop_token(), [&] { lost.count_down(); });
  lost.wait();
}

/// The time stands still: a hold is handed over for a few milliseconds only, and gdb takes longer.
void hand_over() {
  latchkey::testing::ManualClock clock;
  const auto listener = std::make_shared<WaitListener>();
  const latchkey::Locks locks =
      latchkey::Locks::connect("memory:", {.clock = &clock, .listener = listener});
  latchkey::Hold first = locks.lock("handed").acquire(1s, 30s);
  std::jthread second([&] { static_cast<void>(locks.lock("handed").acquire(30s, 30s).release()); });
  listener->waits.wait();
  static_cast<void>(first.release());
}

}  // namespace

int main() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  const latchkey::Locks locks = latchkey::Locks::connect("memory:");
  static_cast<void>(locks.lock("plain").acquire(1s, 30s).release());
  static_cast<void>(locks.all_of({locks.lock("a"), locks.lock("b")}).acquire(1s, 30s).release());
  deposit(7);
  wait_until_lost(locks.lock("short").acquire(1s, 30ms));
  hand_over();
}
