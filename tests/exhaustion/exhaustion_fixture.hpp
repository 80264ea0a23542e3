// Makes each allocation of a call fail once.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <thread>

#include <latchkey/error.hpp>

#include "exhaustion/scarce_memory.hpp"

namespace latchkey::tests {

class ExhaustionFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    ::alarm(120);  // ends the program if a call that was not removed from a queue blocks all others
  }
  void TearDown() override { ::alarm(0); }

  /// Fills the caches of the calling thread.
  virtual void warm_up() = 0;
  /// Expects that no call has left anything behind.
  virtual void everything_is_free() = 0;

  /// True if the call succeeds or fails as it may without memory.
  template <class Call>
  static bool fails_well(Call&& call) {
    try {
      call();
    } catch (const std::bad_alloc&) {
      return true;
    } catch (const BackendUnavailable&) {
      return true;
    } catch (const std::exception& error) {
      static_cast<void>(allocation_failed());  // stops further failures
      ADD_FAILURE() << error.what();
      return false;
    }
    return true;
  }

  /// Runs `call` in new threads, whose caches are empty, twice in each. The nth allocation fails,
  /// for n from 1 until `call` ends before its nth allocation.
  void each_allocation(const std::function<void(int round, const std::function<void()>& from_here,
                                                const std::function<void()>& to_here)>& call) {
    constexpr int rounds = 2, most = 400;
    for (int round = 0; round < rounds; ++round) {
      std::size_t nth = 1;
      for (bool failed = true; failed; ++nth) {
        ASSERT_LT(nth, static_cast<std::size_t>(most));
        SCOPED_TRACE("allocation " + std::to_string(nth) + ", round " + std::to_string(round));
        failed = false;
        std::thread([&] {
          if (round > 0) warm_up();
          call(
              round, [&] { fail_allocation(nth); },
              [&] { failed = allocation_failed() || failed; });
          failed = allocation_failed() || failed;
        }).join();
        everything_is_free();
        if (HasFatalFailure()) return;
      }
    }
  }
};

}  // namespace latchkey::tests
