// The backend contract over the memory backend, in manual and in real time.
#include <atomic>
#include <thread>

#include <latchkey/testing/backend_contract.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "memory/memory_backend.hpp"

namespace {

using latchkey::Backend;
using latchkey::Options;
using std::chrono::milliseconds;

std::string fresh(const char* what) {
  static std::atomic<int> last = 0;
  return what + std::to_string(++last);
}

struct MemoryInManualTime {
  static constexpr milliseconds unit{200};

  std::unique_ptr<Backend> backend() {
    return latchkey::detail::make_memory_backend(uri, options());
  }
  std::string fresh_key() { return fresh("key"); }
  void pass(milliseconds time) { clock.advance(time); }
  Options options() { return {.clock = &clock}; }

  latchkey::testing::ManualClock clock;
  const std::string uri = fresh("memory:manual");
};

struct MemoryInRealTime {
  static constexpr milliseconds unit{100};

  std::unique_ptr<Backend> backend() { return latchkey::detail::make_memory_backend(uri, {}); }
  std::string fresh_key() { return fresh("key"); }
  // sleeps: leases end by real time
  void pass(milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }

  const std::string uri = fresh("memory:real");
};

}  // namespace

LATCHKEY_BACKEND_CONTRACT(MemoryInManualTime, MemoryInManualTime);
LATCHKEY_BACKEND_CONTRACT(MemoryInRealTime, MemoryInRealTime);
