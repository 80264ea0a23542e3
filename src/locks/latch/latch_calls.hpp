// The requests, errors and events that blocking and asynchronous calls about latches share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/error.hpp>
#include <latchkey/listener.hpp>

#include "locks/space/direct_request.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;

/// One thing that can be done with a latch by one request.
enum class LatchAction : std::uint8_t { set, count_down, count, destroy };

/// Makes the request, and does not submit it. `count` is for LatchAction::set. Throws
/// std::invalid_argument for a count that no latch has.
[[nodiscard]] std::unique_ptr<DirectRequest> make_latch_request(std::string_view key,
                                                                LatchAction action,
                                                                std::uint32_t count = 1);
/// Makes a request of a wait: latch_count, subscribe or unsubscribe.
[[nodiscard]] std::unique_ptr<DirectRequest> make_latch_request(std::string_view key, Verb verb);

/// Returns the result of a reply, after its event was published: the count that is left, or 1 for
/// yes and 0 for no. Throws BackendUnavailable and BackendRefused.
[[nodiscard]] std::uint32_t latch_result(LockSpace& space, LatchAction action,
                                         const DirectRequest& answered);

/// Publishes the event of a wait that has ended, and returns `open`.
[[nodiscard]] bool end_latch_wait(LockSpace& space, std::string_view key, bool open,
                                  Clock::time_point began) noexcept;
void publish_failed_latch_wait(LockSpace& space, std::string_view key, std::string_view text,
                               Clock::time_point began) noexcept;

[[nodiscard]] LockSite site_of_latch(const LockSpace& space, std::string_view key);

}  // namespace latchkey::inline v1::detail
