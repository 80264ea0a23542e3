// The embedded backend: locks within one process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

namespace latchkey::inline v1::detail {

/// "memory:" is a new space each time. "memory:name" is one space that all connections of this
/// process with that name share; it lives as long as the last of them. The space's clock is
/// `options.clock`, or the system clock. Throws std::invalid_argument for another URI, and if a
/// shared space has another clock than `options`.
///
/// It offers everything that a backend can: all types, acquire_all of any keys, notifications,
/// order, administration. submit carries out requests immediately, at the time `Request::sent` if
/// that is set. Outcomes wait for a driver: the outcome of a request that was submitted outside of
/// drive is delivered by the next drive of the same thread, or by another thread that calls drive
/// earlier. A thread that is parked in drive is not woken for it. A notification wakes one parked
/// thread.
[[nodiscard]] std::unique_ptr<Backend> make_memory_backend(std::string_view uri,
                                                           const Options& options);

/// The number of keys with a record in the space of that backend; for tests.
[[nodiscard]] std::size_t memory_records(Backend& memory_backend);

}  // namespace latchkey::inline v1::detail
