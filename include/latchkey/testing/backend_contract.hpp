// The contract that every backend fulfils, as a test suite for yours.
#pragma once

#include <latchkey/testing/contract/holds.hpp>
#include <latchkey/testing/contract/locks.hpp>
#include <latchkey/testing/contract/queues.hpp>
#include <latchkey/testing/contract/requests.hpp>

/// Runs the whole contract against a store of yours, at the seam and through Locks:
///
///     struct SqlStore {
///       std::unique_ptr<latchkey::Backend> backend();   // a new connection to the same store
///       std::string fresh_key();                        // a key that was never used before
///       void pass(std::chrono::milliseconds time);      // lets time pass: manually, or by waiting
///       latchkey::Options options();                    // for the Locks; its clock is the store's
///
///       // Optional. What leases are multiples of; 50 ms if not said. Small makes it fast,
///       // large makes it safe where time is real and the machine busy.
///       static constexpr auto unit = std::chrono::milliseconds(20);
///       // Optional: false where verify believes the lease, as SimpleBackend's own does.
///       static constexpr bool verifies = false;
///     };
///     LATCHKEY_BACKEND_CONTRACT(Sql, SqlStore)
///
/// Each case makes a SqlStore of its own. What `Backend::capabilities` does not offer is reported
/// as skipped, with "not offered: …", never as passed. A test program that uses it links
/// latchkey::testing.
#define LATCHKEY_BACKEND_CONTRACT(Name, Store)                  \
  namespace latchkey::testing::contract {                       \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendHolds, Store);    \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendQueues, Store);   \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendRequests, Store); \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendLocks, Store);    \
  }                                                             \
  static_assert(true, "so that the macro ends with a semicolon")
