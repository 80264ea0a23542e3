// A latch that processes count down and wait for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {
class LockAccess;
class SpaceRef;
}  // namespace detail

/// A count that any process gives, counts down and waits for: Redisson's RCountDownLatch, on the
/// same keys and channels. It is open while its count is zero, which is also the count of a latch
/// that nobody has given one.
///
///     latchkey::CountDownLatch started = locks.count_down_latch("workers:started");
///     started.try_set_count(4);
///     // in each of four workers:
///     started.count_down();
///     // whoever needs all of them:
///     if (!started.wait_for(30s)) throw std::runtime_error("a worker is missing");
///
/// | count | ends when                          | next                                   |
/// |-------|------------------------------------|----------------------------------------|
/// | none  | try_set_count(n)                   | n; waits that begin from now on block  |
/// | n     | count_down()                       | n - 1, or none if n was 1              |
/// | n     | destroy(), or the data is lost     | none                                   |
///
/// A count has no lease: it stays until it is counted down or destroyed. A process that ends
/// without counting down leaves it, so waits have a bound. Whoever counts down is not checked.
///
/// A handle without state of its own: copies are the same latch. Thread-safe. All functions throw
/// BackendUnavailable (nobody can tell) and BackendRefused (the server said no).
class CountDownLatch {
 public:
  /// Gives the latch a count of 1 to 2147483647, unless it has one. Returns false if it has. Throws
  /// std::invalid_argument for another count.
  bool try_set_count(std::uint32_t count) const;

  /// Counts down by one and returns what remains. A latch without a count stays without one, and
  /// returns 0. If the reply is lost, BackendUnavailable says that it may have counted: repeating
  /// it may count twice.
  std::uint32_t count_down() const;

  /// 0: it is open.
  [[nodiscard]] std::uint32_t count() const;

  /// Waits until the count is zero, as long as the backend answers. Woken by the backend's
  /// notification; in case that is lost it also asks after about 1 s, then at growing intervals of
  /// at most 5 s. The waits throw Closed if the Locks are closed.
  void wait() const;
  /// Returns false if the count is not zero when `length` has passed. A wait ends then, whatever
  /// the server does: with BackendUnavailable if its last question had no answer.
  [[nodiscard]] bool wait_for(Wait length) const;
  template <class Time, class Length>
  [[nodiscard]] bool wait_until(std::chrono::time_point<Time, Length> until) const {
    return wait_for(std::chrono::ceil<std::chrono::milliseconds>(until - Time::now()));
  }

  /// Removes the latch and its count: waits end. Returns false if it had none.
  bool destroy() const;

  /// The key without the prefix, as it was given.
  [[nodiscard]] std::string_view key() const noexcept;

 private:
  friend class Locks;
  friend class detail::LockAccess;
  CountDownLatch(std::shared_ptr<detail::SpaceRef> space, std::string key);

  std::shared_ptr<detail::SpaceRef> space_;
  std::string key_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
