// The backend contract over segments, in manual and in real time.
#include <atomic>
#include <thread>

#include <latchkey/testing/backend_contract.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "host/host_fixture.hpp"

namespace {

using latchkey::Backend;
using latchkey::Options;
using std::chrono::milliseconds;

std::string fresh_key() {
  static std::atomic<int> last = 0;
  return "key" + std::to_string(++last);
}

struct HostInManualTime {
  static constexpr milliseconds unit{200};

  std::unique_ptr<Backend> backend() { return segment.backend(options()); }
  std::string fresh_key() { return ::fresh_key(); }
  void pass(milliseconds time) { clock.advance(time); }
  Options options() { return {.clock = &clock}; }

  latchkey::testing::ManualClock clock;
  const latchkey::tests::TestSegment segment;
};

struct HostInRealTime {
  static constexpr milliseconds unit{100};

  std::unique_ptr<Backend> backend() { return segment.backend(); }
  std::string fresh_key() { return ::fresh_key(); }
  // sleeps: leases end by real time
  void pass(milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }

  const latchkey::tests::TestSegment segment;
};

}  // namespace

LATCHKEY_BACKEND_CONTRACT(HostInManualTime, HostInManualTime);
LATCHKEY_BACKEND_CONTRACT(HostInRealTime, HostInRealTime);
