// Texts and events that describe a call or a hold.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>

#include <latchkey/clock.hpp>
#include <latchkey/listener.hpp>

#include "locks/coordinator/call.hpp"
#include "locks/coordinator/coordinator_context.hpp"
#include "locks/coordinator/remote_hold.hpp"

namespace latchkey::inline v1::detail {

/// The text by which others read who holds `claim`, such as "Bank::deposit (bank.cpp:12) on web-3,
/// process 7 (bank), since 2026-11-27T12:15:00Z". For an idle hold it begins with "the cache",
/// also while a call has taken that without a request.
[[nodiscard]] std::string announcement_of(const RemoteHold& claim,
                                          const CoordinatorSettings& settings);

/// The event by which an acquire that has ended is reported; nullopt: none.
[[nodiscard]] std::optional<Event::Kind> event_of(const Call& call) noexcept;

/// "Bank::deposit (bank.cpp:12), owner 3 of this process (thread 4711), for 12 ms"
[[nodiscard]] std::string describe_holder(const RemoteHold& hold, Clock::time_point now);

/// Fills in how the lease of `hold` stands, and its token or permits.
void describe_hold(Event& event, const RemoteHold& hold, Clock::time_point now);

/// Fills in how long the acquire `call` has taken, and what came of it. If it still waits, the
/// caller fills in for whom.
void describe_call(Event& event, const Call& call, Clock::time_point now);

}  // namespace latchkey::inline v1::detail
