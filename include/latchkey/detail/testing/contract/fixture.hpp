// The fixture that all parts of the backend contract share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>

namespace latchkey::inline v1::testing::contract {

using Kind = Outcome::Kind;
using std::chrono::milliseconds;

/// `Store` is the user's fixture, see latchkey/testing/backend_contract.hpp. Times are multiples of
/// `unit`, short enough for real waiting and long enough for a busy machine.
template <class Store>
class Contract : public ::testing::Test {
 protected:
  static constexpr milliseconds unit = [] {
    if constexpr (requires { Store::unit; }) {
      return milliseconds(Store::unit);
    } else {
      return milliseconds(100);
    }
  }();
  static constexpr milliseconds lease = 4 * unit;
  static constexpr milliseconds long_lease = 400 * unit;

  /// False if verify returns granted without checking, as SimpleBackend's default does.
  static constexpr bool verifies = [] {
    if constexpr (requires { Store::verifies; }) {
      return bool{Store::verifies};
    } else {
      return true;
    }
  }();

  /// False if the store names holders by other texts than those of their ids.
  static constexpr bool shows_ids = [] {
    if constexpr (requires { Store::shows_ids; }) {
      return bool{Store::shows_ids};
    } else {
      return true;
    }
  }();

  /// False if the store does not know who waits for a key.
  static constexpr bool knows_waiters = [] {
    if constexpr (requires { Store::knows_waiters; }) {
      return bool{Store::knows_waiters};
    } else {
      return true;
    }
  }();

  /// True if a connection counts the lease of another holder from when it has seen it.
  static constexpr bool observes = [] {
    if constexpr (requires { Store::observes; }) {
      return bool{Store::observes};
    } else {
      return false;
    }
  }();

  [[nodiscard]] Probe connect() { return Probe(store.backend(), store.options()); }
  /// Lets time pass. Where a live process ends its own holds, or watches those of others, the
  /// probes do so meanwhile.
  void pass(milliseconds time) {
    const bool driven = observes ? Probe::drive_all(time) : Probe::drive_sessions(time);
    if (!driven) store.pass(time);
  }

  /// The exclusive types that are offered.
  static std::vector<LockType> exclusive(const Capabilities& offered) {
    std::vector<LockType> types;
    for (const LockType type :
         {LockType::REENTRANT, LockType::FAIR, LockType::WRITE, LockType::FENCED}) {
      if (offered.offers(type)) types.push_back(type);
    }
    return types;
  }
  /// All types that are offered.
  static std::vector<LockType> types(const Capabilities& offered) {
    std::vector<LockType> all = exclusive(offered);
    if (offered.read_write) all.push_back(LockType::READ);
    return all;
  }

  Store store;
  const std::string name = store.fresh_key();
};

}  // namespace latchkey::inline v1::testing::contract

/// Ends the case, reported as not offered: it neither passed nor failed.
#define LATCHKEY_DETAIL_OFFERED(condition, what) \
  if (!(condition)) GTEST_SKIP() << "not offered: " << (what)
