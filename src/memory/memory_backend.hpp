// The embedded backend: locks within one process.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

namespace latchkey::detail {

/// "memory:" is a space of its own each time, "memory:name" one that all connections of this
/// process with that name share; it lives as long as the last of them. The space's clock is
/// `options.clock`, or the system's. Throws std::invalid_argument for another URI, and where a
/// shared space has another clock than `options`.
///
/// It offers everything that a backend can: all types, acquire_all of any keys, notifications,
/// order, administration. Requests are carried out within submit, at the time `Request::sent`
/// where that is given; outcomes wait for a driver. A request submitted outside of drive is
/// delivered by the next drive of the same thread, or by another thread that comes to drive before:
/// a thread that is asleep in drive already is not woken for it. Notifications wake one.
[[nodiscard]] std::unique_ptr<Backend> make_memory_backend(std::string_view uri,
                                                           const Options& options);

/// How many keys the space of that backend has a record of; for tests.
[[nodiscard]] std::size_t memory_records(Backend& memory_backend);

}  // namespace latchkey::detail
