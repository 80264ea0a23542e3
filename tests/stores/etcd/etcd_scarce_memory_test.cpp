// A client of etcd whose allocations fail.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <string>

#include <latchkey/backend.hpp>
#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"
#include "exhaustion/scarce_memory.hpp"
#include "stores/scarce_memory_cases.hpp"
#include "support/lock_types.hpp"

namespace latchkey::tests {
namespace {

/// Whatever a Locks leaves behind is deleted with its session.
Locks connect() {
  constexpr std::chrono::seconds session{6};
  return etcd_locks(shared_etcd().uri("session=6s"),
                    {.watchdog = session, .command_timeout = std::chrono::seconds(1)});
}

class EtcdWithoutMemory : public ::testing::Test {
 protected:
  ScarceMemoryCases cases{connect, "memory:" + fresh_etcd_key()};
};

// Requests were lost, and their callers waited for as long as the process ran.
TEST_F(EtcdWithoutMemory, AnAcquireAndAReleaseEndByTheirWait) {
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_and_release(type);
  }
}

TEST_F(EtcdWithoutMemory, AWaitEndsInTimeAndLeavesNoPlaceInTheQueue) {
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    cases.wait_in_vain(type);
  }
}

TEST_F(EtcdWithoutMemory, AWaiterGoesOnWhileAnotherCallLacksMemory) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_while_another_waits(type);
  }
}

TEST_F(EtcdWithoutMemory, InspectAndListEndByTheirWait) { cases.inspect_and_list(); }

TEST_F(EtcdWithoutMemory, AConnectionIsMadeOrTheCallerIsTold) { cases.connect_and_acquire(); }

struct Subscriber final : Sink {
  void completed(Request&, Outcome&&) noexcept override { done = true; }
  void notified(const Notification&) noexcept override {}
  bool done = false;
};

// To start over needed memory itself, and the process ended.
TEST(EtcdBackendWithoutMemory, StartsOverWhileItSubscribes) {
  const auto backend = etcd_backend(shared_etcd().uri("session=6s"));
  const std::string key = fresh_etcd_key(), other_key = fresh_etcd_key();
  Subscriber sink;
  const auto request = [&](Verb verb, const std::string& of, std::uint64_t id) {
    Request made;
    made.verb = verb;
    made.key = of;
    made.id = {{1, 1}, id};
    made.lease = std::chrono::seconds(2);
    return made;
  };
  Request keeps_session = request(Verb::acquire, other_key, 1);
  run_to_end(*backend, keeps_session, sink);
  for (std::size_t nth = 1; nth <= 40; ++nth) {
    SCOPED_TRACE(nth);
    Request subscribe = request(Verb::subscribe, key, 2), unsubscribe = subscribe;
    unsubscribe.verb = Verb::unsubscribe;
    fail_allocation(nth, 4);
    try {
      run_to_end(*backend, subscribe, sink);
    } catch (const std::bad_alloc&) {  // it was not submitted
      EXPECT_FALSE(sink.done);
    }
    allocation_failed();
    run_to_end(*backend, unsubscribe, sink);
  }
}

}  // namespace
}  // namespace latchkey::tests
