// The cost of a decorated call, on the memory backend, while others are observed, and with an
// observer that does nothing. What a call costs while nobody observes any is in bench_locked_call.
#include <latchkey/call_observer.hpp>
#include <latchkey/latchkey.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "locks/observed_calls.hpp"
#include "side_by_side.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
namespace bench = latchkey::bench;

struct Account {
  int id;
};

int add(const latchkey::Locks& locks, const Account& account) {
  return LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s).in(locks)AROUND(account) {
    return account.id + 1;
  };
}

class Nothing final : public latchkey::CallObservation {
 public:
  void acquiring(const latchkey::Locks& /*locks*/, std::string_view /*key*/,
                 const latchkey::Attempt& /*attempt*/) noexcept override {}
  void acquired(const latchkey::Hold& /*hold*/,
                const latchkey::AcquireReport& /*report*/) noexcept override {}
  void not_acquired(latchkey::Event::Kind /*outcome*/, const latchkey::AcquireReport& /*report*/,
                    const std::exception_ptr& /*error*/) noexcept override {}
  void ended(latchkey::Event::Kind /*outcome*/,
             std::optional<std::chrono::milliseconds> /*held*/) noexcept override {}
  void body_threw() noexcept override {}
  std::unique_ptr<latchkey::CallScope> enter_thread() noexcept override { return nullptr; }
};

class Observer final : public latchkey::CallObserver {
 public:
  std::unique_ptr<latchkey::CallObservation> begin() noexcept override {
    return std::make_unique<Nothing>();
  }
};

}  // namespace

int main() {
  const auto plain = latchkey::Locks::connect("memory:");
  const auto observed =
      latchkey::Locks::connect("memory:", {.call_observer = std::make_shared<Observer>()});
  volatile int sum = 0;
  const auto calls = [&](const latchkey::Locks& locks, bool others_are_observed) {
    return [&sum, &locks, others_are_observed](int operations) {
      latchkey::detail::calls_may_be_observed.store(others_are_observed);
      for (int each = 0; each < operations; ++each) sum = sum + add(locks, {each % 1'000});
    };
  };
  bench::print_header("nobody");
  bool fits = bench::compare("calls of other Locks are observed", 1'000'000, 1.15,
                             calls(plain, true), calls(plain, false));
  fits &= bench::compare("an observer that does nothing", 1'000'000, 4.0, calls(observed, true),
                         calls(plain, false));
  return fits ? 0 : 1;
}
