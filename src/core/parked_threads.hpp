// The threads that block inside a backend's drive.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/parker.hpp>

namespace latchkey::inline v1::detail {

/// A list of threads that block in drive and can be woken to look for work. The owner's mutex
/// guards it and is held during every call. A driver therefore cannot leave the list during a
/// wake-up, and its parker is alive then.
///
/// No work is missed: a driver adds itself, *then* looks for work, and only then parks; a producer
/// adds its work first and then calls wake_one, all under the mutex. So either the driver sees the
/// work, or the producer sees the driver. Every driver looks for work once more after it has
/// removed itself, whatever woke it: while a woken driver is still in the list, no other has to be
/// woken.
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

  /// Wakes the driver that was added last, unless a woken one is still in the list.
  void wake_one() noexcept {
    if (woken_ != nullptr || first_ == nullptr) return;
    woken_ = first_;
    first_->parker.unpark();
  }

  /// For a forked child: the threads belong to the parent.
  void clear() noexcept { first_ = woken_ = nullptr; }

 private:
  Waiter* first_ = nullptr;
  Waiter* woken_ = nullptr;
};

}  // namespace latchkey::inline v1::detail
