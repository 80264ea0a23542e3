// A backend in memory that fails or delays requests as a test demands.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <latchkey/hold_id.hpp>
#include <latchkey/simple_backend.hpp>

namespace latchkey::tests {

/// The faults, which the test sets, and counters. Must outlive the backend.
struct Faults {
  std::atomic<bool> silent{false};         ///< every outcome is unknown
  std::atomic<bool> refusing{false};       ///< every request is refused
  std::atomic<bool> releases_hang{false};  ///< releases wait while this is true
  std::atomic<int> hanging{0};             ///< releases that have begun and not ended
  std::atomic<int> acquires{0};
  std::atomic<int> renewals{0};
};

/// REENTRANT locks without leases.
class FailingBackend final : public SimpleBackend {
 public:
  explicit FailingBackend(Faults& faults, Clock& clock = Clock::system())
      : SimpleBackend(clock), faults_(faults) {}
  [[nodiscard]] std::string describe() const override { return "failing"; }

 protected:
  Outcome acquire(const Request& request) override {
    ++faults_.acquires;
    throw_if_faulty();
    const std::lock_guard lock(mutex_);
    const auto [place, fresh] = holders_.try_emplace(std::string(request.key), request.id);
    return fresh || place->second == request.id ? granted() : busy({}, place->second.text());
  }
  Outcome renew(const Request& request) override {
    ++faults_.renewals;
    throw_if_faulty();
    const std::lock_guard lock(mutex_);
    const auto place = holders_.find(std::string(request.key));
    return granted_if(place != holders_.end() && place->second == request.id);
  }
  Outcome release(const Request& request) override {
    ++faults_.hanging;
    // sleeps: it hangs until the test ends that
    while (faults_.releases_hang) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --faults_.hanging;
    throw_if_faulty();
    const std::lock_guard lock(mutex_);
    const auto place = holders_.find(std::string(request.key));
    if (place == holders_.end() || place->second != request.id) return gone();
    holders_.erase(place);
    return granted();
  }

 private:
  void throw_if_faulty() const {
    if (faults_.silent) throw std::runtime_error("the line is dead");
    if (faults_.refusing) throw Refused("not allowed");
  }

  Faults& faults_;
  std::mutex mutex_;
  std::map<std::string, HoldId, std::less<>> holders_;
};

}  // namespace latchkey::tests
