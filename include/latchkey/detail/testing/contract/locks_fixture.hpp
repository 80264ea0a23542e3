// How the contract's tests call Locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <utility>

#include <latchkey/detail/testing/contract/fixture.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1::testing::contract {

template <class Store>
class BackendLocks : public Contract<Store> {
 protected:
  static constexpr milliseconds no_wait{0};

  static constexpr bool has_surface = requires(Store& store, Locks made) { store.surface(made); };

  /// Returns the object that the tests call: the Locks, or what `Store::surface` puts before them.
  auto locks() {
    Locks made(this->store.backend(), this->store.options());
    if constexpr (has_surface) {
      return this->store.surface(std::move(made));
    } else {
      return made;
    }
  }

  /// At the end of a scope. A hold from a surface need not wait there until it is released.
  static void leave_scope([[maybe_unused]] Hold& hold) {
    if constexpr (has_surface) {
      EXPECT_TRUE(hold.release());
    }
  }

  /// Whether the lock is free. It is free again afterwards.
  template <class OneLock>
  static bool takes(OneLock lock) {
    std::optional<Hold> hold = lock.try_acquire(no_wait, Contract<Store>::long_lease);
    if (hold) leave_scope(*hold);
    return hold.has_value();
  }

  /// Runs `call` on another thread and lets time pass until it has returned.
  template <class Call>
  void while_time_passes(Call call) {
    auto done = std::async(std::launch::async, std::move(call));
    while (done.wait_for(milliseconds(10)) != std::future_status::ready) this->pass(this->unit);
    done.get();
  }
};

}  // namespace latchkey::inline v1::testing::contract
