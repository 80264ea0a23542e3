// The contract of backends, as a test suite for yours.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/testing/contract/grants.hpp>
#include <latchkey/detail/testing/contract/holds.hpp>
#include <latchkey/detail/testing/contract/latches.hpp>
#include <latchkey/detail/testing/contract/locks.hpp>
#include <latchkey/detail/testing/contract/permits.hpp>
#include <latchkey/detail/testing/contract/queues.hpp>
#include <latchkey/detail/testing/contract/requests.hpp>
#include <latchkey/detail/testing/contract/sessions.hpp>
#include <latchkey/detail/testing/contract/tokens.hpp>

/// Tests a store of yours against the whole contract, by requests and through Locks:
///
///     struct SqlStore {
///       std::unique_ptr<latchkey::Backend> backend();   // a new connection to the same store
///       std::string fresh_key();                        // a key that was never used before
///       void pass(std::chrono::milliseconds time);      // lets time pass: manually, or by waiting
///       latchkey::Options options();                    // for the Locks; its clock is the store's
///
///       // Optional: leases are multiples of this; 100 ms by default. A small unit makes the suite
///       // fast, a large one makes it reliable in real time on a busy machine.
///       static constexpr auto unit = std::chrono::milliseconds(20);
///       // Optional: false if verify trusts the lease, as that of SimpleBackend does.
///       static constexpr bool verifies = false;
///       // Optional: false if the store names holders by other texts than those of their ids.
///       static constexpr bool shows_ids = true;
///       // Optional: false if the store does not know who waits for a key.
///       static constexpr bool knows_waiters = true;
///       // Optional: true if a connection counts the lease of another holder from when it has seen
///       // it: it is then driven, in real time, while time passes.
///       static constexpr bool observes = false;
///     };
///     LATCHKEY_BACKEND_CONTRACT(Sql, SqlStore)
///
/// A store may have a function `surface(Locks)` that returns an object with the functions of Locks,
/// which acquires in another way, such as by asynchronous operations.
///
/// A store of Capabilities::Lifetime::per_session has a function `end_session(Backend&)`: it ends
/// the session of this connection at the server, as if the process had been frozen for too long.
///
/// Each test creates its own SqlStore. Tests of what `Backend::capabilities` does not offer are
/// skipped with "not offered: …". The test program links latchkey::testing.
#define LATCHKEY_BACKEND_CONTRACT(Name, Store)                  \
  namespace latchkey::testing::contract {                       \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendHolds, Store);    \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendQueues, Store);   \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendGrants, Store);   \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendTokens, Store);   \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendPermits, Store);  \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendRequests, Store); \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendSessions, Store); \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendLatches, Store);  \
  INSTANTIATE_TYPED_TEST_SUITE_P(Name, BackendLocks, Store);    \
  }                                                             \
  static_assert(true, "so that the macro ends with a semicolon")
