// Processes that do the same work and are stopped, continued and killed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <utility>

#include "soak/settings.hpp"
#include "soak/shared.hpp"

namespace latchkey::soak {

/// How much longer than `length` a wait of it took: the machine was busy.
inline std::chrono::steady_clock::duration late_wait(std::chrono::milliseconds length) {
  const auto start = std::chrono::steady_clock::now();
  ::poll(nullptr, 0, static_cast<int>(length.count()));
  return std::max(std::chrono::steady_clock::now() - start - length,
                  std::chrono::steady_clock::duration::zero());
}

/// Four processes. The random order of what happens to them follows from LATCHKEY_SEED.
class Processes {
 public:
  using Steady = std::chrono::steady_clock;
  using Length = std::chrono::milliseconds;
  /// Runs in a process until end(). `number`: 0 to 3; a process that takes the place of a killed
  /// one has its number, and another seed.
  using Work = std::function<void(std::size_t number, unsigned seed)>;

  explicit Processes(Work work) : work_(std::move(work)) {}

  /// Calls `disturb` until the end. True if all processes then ended with status 0.
  template <class Disturb>
  [[nodiscard]] bool run(Length length, Disturb&& disturb) {
    end_ = Steady::now() + length;
    for (std::size_t number = 0; number < children_.size(); ++number) start(number);
    while (Steady::now() < end_) disturb();
    bool good = true;
    for (auto& each : children_) good = each->join() && good;
    return good;
  }
  [[nodiscard]] Steady::time_point end() const noexcept { return end_; }

  /// Kills one of them, and starts another in its place.
  void kill_one() {
    const std::size_t number = random() % children_.size();
    children_[number].reset();
    start(number);
    ++kills;
  }
  /// Stops one of them for `shortest` to `longest`.
  void stop_one(Length shortest, Length longest) {
    const pid_t id = children_[random() % children_.size()]->ids().front();
    ::kill(id, SIGSTOP);
    wait(shortest, longest);
    ::kill(id, SIGCONT);
    ++stops;
  }
  /// Lets them work for `shortest` to `longest`.
  void wait(Length shortest, Length longest) {
    const auto more = static_cast<unsigned>((longest - shortest).count());
    late_wait(shortest + Length(random() % more));
  }
  [[nodiscard]] unsigned random() { return static_cast<unsigned>(random_()); }

  int stops = 0, kills = 0;

 private:
  void start(std::size_t number) {
    children_[number] = std::make_unique<Children>();
    children_[number]->start([&, its_seed = random()] { work_(number, its_seed); });
  }

  const Work work_;
  std::minstd_rand random_{static_cast<unsigned>(seed_of_soak())};
  Steady::time_point end_;
  std::array<std::unique_ptr<Children>, 4> children_;
};

}  // namespace latchkey::soak
