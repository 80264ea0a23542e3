// The threads that sleep inside a backend's drive.
#pragma once

#include <latchkey/parker.hpp>

namespace latchkey::detail {

/// Who sleeps in drive and can be woken to look for work. Guarded by a mutex of its owner's, held
/// by every call: a driver in the list cannot leave meanwhile, so its parker is alive when rung.
///
/// Why no work is left behind, however the threads meet: a driver adds itself, *then* looks whether
/// there is work, and only then parks; who brings work brings it first and then calls wake_one, all
/// under the mutex. So either the driver sees the work, or the bringer sees the driver. Every
/// driver looks once more after it has removed itself, whatever it was woken for: while one that
/// was woken is still in the list, nobody else has to be.
class ParkedThreads {
 public:
  struct Waiter {
    Parker& parker;
    Waiter* next = nullptr;
    Waiter* previous = nullptr;
  };

  void add(Waiter& driver) noexcept {
    driver.previous = nullptr;
    driver.next = first_;
    if (first_ != nullptr) first_->previous = &driver;
    first_ = &driver;
  }

  void remove(Waiter& driver) noexcept {
    if (driver.previous != nullptr) driver.previous->next = driver.next;
    if (driver.next != nullptr) driver.next->previous = driver.previous;
    if (first_ == &driver) first_ = driver.next;
    if (woken_ == &driver) woken_ = nullptr;
  }

  /// Wakes the one that came last, unless one is on its way already.
  void wake_one() noexcept {
    if (woken_ != nullptr || first_ == nullptr) return;
    woken_ = first_;
    first_->parker.unpark();
  }

  /// In a forked child: they were the parent's threads.
  void clear() noexcept { first_ = woken_ = nullptr; }

 private:
  Waiter* first_ = nullptr;
  Waiter* woken_ = nullptr;
};

}  // namespace latchkey::detail
