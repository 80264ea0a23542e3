// The backend contract over three blocking functions.
#include <atomic>

#include <latchkey/testing/backend_contract.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "unit/backend/toy_backend.hpp"

namespace {

struct ToyStore {
  static constexpr std::chrono::milliseconds unit{1'000};
  static constexpr bool verifies = false;

  std::unique_ptr<latchkey::Backend> backend() { return std::make_unique<toy::ToyBackend>(store); }
  std::string fresh_key() {
    static std::atomic<int> last = 0;
    return "key" + std::to_string(++last);
  }
  void pass(std::chrono::milliseconds time) { clock.advance(time); }
  latchkey::Options options() { return {.clock = &clock}; }

  latchkey::testing::ManualClock clock;
  std::shared_ptr<toy::Store> store = std::make_shared<toy::Store>(clock);
};

}  // namespace

LATCHKEY_BACKEND_CONTRACT(SimpleBackend, ToyStore);
