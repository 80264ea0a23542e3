// One interface for the hold of one key and the hold of several.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <latchkey/fence.hpp>
#include <latchkey/hold.hpp>

#include "locks/hold/multi_hold.hpp"
#include "locks/hold/single_hold.hpp"

namespace latchkey::inline v1::detail {

/// The interface of SingleHold and MultiHold, with the meaning that Hold documents.
template <class H>
concept HoldInterface = requires(H& held, const H& same, std::string_view text, std::size_t index,
                                 std::chrono::milliseconds time, const ErrorContext* context) {
  { same.key() } noexcept -> std::same_as<std::string_view>;
  { same.covers(text) } noexcept -> std::same_as<bool>;
  { same.id() } -> std::same_as<std::string>;
  { same.remaining() } noexcept -> std::same_as<std::chrono::milliseconds>;
  { same.fencing_token() } noexcept -> std::same_as<std::optional<std::uint64_t>>;
  { same.fencing_token(text) } noexcept -> std::same_as<std::optional<std::uint64_t>>;
  { same.fencing_token(index) } noexcept -> std::same_as<std::optional<std::uint64_t>>;
  { same.fence(text) } -> std::same_as<std::optional<Fence>>;
  { same.fence(index) } -> std::same_as<std::optional<Fence>>;
  { same.lost() } noexcept -> std::same_as<bool>;
  { held.stop_token() } -> std::same_as<std::stop_token>;
  { same.revoked() } noexcept -> std::same_as<bool>;
  { held.revocation_token() } -> std::same_as<std::stop_token>;
  { held.extend(time) } -> std::same_as<bool>;
  { held.hold_for(time) } noexcept -> std::same_as<void>;
  { held.release(time, context) } -> std::same_as<bool>;
  { held.release_quietly(time) } noexcept -> std::same_as<void>;
};
static_assert(HoldInterface<SingleHold>);
static_assert(HoldInterface<MultiHold>);

/// Calls `action` with the SingleHold or the MultiHold that a Hold of these `terms` refers to.
template <class Action>
auto with_held(const Held& held, HoldTerms terms, Action&& action) {
  if (MultiHold* const* const several = std::get_if<MultiHold*>(&held)) return action(**several);
  SingleHold single(*std::get<RemoteHold*>(held), terms);
  return action(single);
}

}  // namespace latchkey::inline v1::detail
