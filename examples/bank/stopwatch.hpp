// A user-defined aspect that measures how long the calls of each method take.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string_view>

#include <latchkey/aspect.hpp>

#include "histogram.hpp"

namespace demo {

/// `stopwatch | LOCKED(...) AROUND(...) { ... }` times the wait and the body. The method's name
/// comes from the join point, so it is not written twice.
class Stopwatch : public latchkey::Aspect {
 public:
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) {
    const Lap lap{*this, point.name()};
    return proceed();
  }

  /// By the method's name, for example "Bank::deposit".
  [[nodiscard]] std::map<std::string_view, Histogram> laps() const {
    const std::lock_guard lock(mutex_);
    return laps_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Ends with the call, however the call ends.
  struct Lap {
    Stopwatch& watch;
    std::string_view method;
    Clock::time_point start = Clock::now();
    ~Lap() { watch.add(method, Clock::now() - start); }
  };

  void add(std::string_view method, Histogram::Duration time) {
    const std::lock_guard lock(mutex_);
    laps_[method].add(time);
  }

  mutable std::mutex mutex_;
  std::map<std::string_view, Histogram> laps_;
};

/// The stopwatch of the program.
inline Stopwatch stopwatch;

}  // namespace demo
