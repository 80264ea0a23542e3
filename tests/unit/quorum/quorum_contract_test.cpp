// The backend contract over quorums of memory backends, in manual and in real time.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/quorum.hpp>
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

std::unique_ptr<Backend> quorum_of(int servers, const std::string& name, const Options& options) {
  std::vector<std::unique_ptr<Backend>> all;
  for (int number = 0; number < servers; ++number) {
    all.push_back(
        latchkey::detail::make_memory_backend(name + "." + std::to_string(number), options));
  }
  return latchkey::make_quorum(std::move(all), options);
}

struct QuorumInManualTime {
  static constexpr milliseconds unit{1'000};

  std::unique_ptr<Backend> backend() { return quorum_of(3, uri, options()); }
  std::string fresh_key() { return fresh("key"); }
  void pass(milliseconds time) { clock.advance(time); }
  Options options() { return {.clock = &clock}; }

  latchkey::testing::ManualClock clock;
  const std::string uri = fresh("memory:quorum");
};

struct QuorumInRealTime {
  static constexpr milliseconds unit{100};

  std::unique_ptr<Backend> backend() { return quorum_of(5, uri, {}); }
  std::string fresh_key() { return fresh("key"); }
  // sleeps: leases end by real time
  void pass(milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }

  const std::string uri = fresh("memory:five");
};

}  // namespace

LATCHKEY_BACKEND_CONTRACT(QuorumInManualTime, QuorumInManualTime);
LATCHKEY_BACKEND_CONTRACT(QuorumInRealTime, QuorumInRealTime);
