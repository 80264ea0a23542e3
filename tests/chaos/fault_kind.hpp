// The kinds of faults, and what each of them excuses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace latchkey::chaos {

enum class FaultKind : std::uint8_t {
  client_stop_short,
  client_stop_long,
  client_kill,
  client_descriptors,
  client_fork,
  link_mute,
  link_half_open,
  link_bytewise,
  link_cut,
  link_cut_mid_reply,
  link_refused,
  link_slow,
  link_late_delivery,
  server_stop_short,
  server_stop_long,
  server_kill,
  server_kill_empty,
  server_shutdown,
  server_pause,
  server_pause_writes,
  kill_normal,
  kill_pubsub,
  flushall,
  script_flush,
  busy_script,
  max_memory,
  no_replicas,
  wrong_type,
  delete_key,
  forced_release,
};

/// What a fault excuses while it lasts, and for a while afterwards (Limits::recovery).
struct FaultTraits {
  FaultKind kind;
  std::string_view name;
  bool of_worker;  ///< of one worker or its connection; otherwise of the server
  int shortest_ms, longest_ms;
  bool silences;  ///< no reply that was not on its way can arrive
  bool impairs;   ///< replies are late or missing: BackendUnavailable is allowed
  bool refuses;   ///< BackendRefused is allowed
  bool forgets;   ///< ends holds on the server before their lease
  bool of_key;    ///< concerns one key only
};

inline constexpr auto fault_kinds = std::to_array<FaultTraits>({
    // clang-format off
    // kind                            name                   worker  shortest longest silent impairs refuses forgets key
    {FaultKind::client_stop_short,   "client stopped briefly",  true,    50,  350, true,  true,  false, false, false},
    {FaultKind::client_stop_long,    "client stopped",          true,  1600, 3000, true,  true,  false, false, false},
    {FaultKind::client_kill,         "client killed",           true,    20,  500, false, true,  false, false, false},
    {FaultKind::client_descriptors,  "no descriptors left",     true,   200, 1500, false, true,  false, false, false},
    {FaultKind::client_fork,         "client forks",            true,     0,    0, false, true,  false, false, false},
    {FaultKind::link_mute,           "mute server",             true,   200, 2500, true,  true,  false, false, false},
    {FaultKind::link_half_open,      "half-open connection",    true,   500, 2500, true,  true,  false, false, false},
    {FaultKind::link_bytewise,       "one byte at a time",      true,   500, 2000, false, true,  false, false, false},
    {FaultKind::link_cut,            "connection reset",        true,     0,    0, false, true,  false, false, false},
    {FaultKind::link_cut_mid_reply,  "reset in mid-reply",      true,    50,  100, false, true,  false, false, false},
    {FaultKind::link_refused,        "connections refused",     true,   200, 2000, true,  true,  false, false, false},
    {FaultKind::link_slow,           "slow link",               true,   500, 2500, false, true,  false, false, false},
    {FaultKind::link_late_delivery,  "requests delivered late", true,   400, 2000, false, true,  false, false, false},
    {FaultKind::server_stop_short,   "server stopped briefly",  false,   50,  350, true,  true,  false, false, false},
    {FaultKind::server_stop_long,    "server stopped",          false, 1600, 3000, true,  true,  false, false, false},
    {FaultKind::server_kill,         "server killed",           false,  100, 1200, true,  true,  false, false, false},
    {FaultKind::server_kill_empty,   "server comes back empty", false,  100, 1200, true,  true,  false, true,  false},
    {FaultKind::server_shutdown,     "server shut down",        false,  100,  800, true,  true,  false, false, false},
    {FaultKind::server_pause,        "CLIENT PAUSE ALL",        false,  100, 1200, false, true,  false, false, false},
    {FaultKind::server_pause_writes, "CLIENT PAUSE WRITE",      false,  100, 1200, false, true,  false, false, false},
    {FaultKind::kill_normal,         "CLIENT KILL normal",      false,    0,    0, false, true,  false, false, false},
    {FaultKind::kill_pubsub,         "CLIENT KILL pubsub",      false,    0,    0, false, true,  false, false, false},
    {FaultKind::flushall,            "FLUSHALL",                false,    0,    0, false, false, false, true,  false},
    {FaultKind::script_flush,        "SCRIPT FLUSH",            false,    0,    0, false, false, false, false, false},
    {FaultKind::busy_script,         "busy script",             false,  200,  900, false, true,  false, false, false},
    {FaultKind::max_memory,          "out of memory",           false,  300, 1500, false, true,  true,  false, false},
    {FaultKind::no_replicas,         "NOREPLICAS",              false,  300, 1500, false, true,  true,  false, false},
    {FaultKind::wrong_type,          "key of another type",     false,  200, 1000, false, false, true,  true,  true},
    {FaultKind::delete_key,          "key deleted",             false,    0,    0, false, false, false, true,  true},
    {FaultKind::forced_release,      "forced release",          false,    0,    0, false, false, false, true,  true},
    // clang-format on
});

constexpr const FaultTraits& traits(FaultKind kind) noexcept {
  return fault_kinds[static_cast<std::size_t>(kind)];
}

}  // namespace latchkey::chaos
