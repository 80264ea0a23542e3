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
  client_no_threads,
  client_no_memory,
  client_hang,
  tool_stop,
  tool_kill,
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
  forbidden_command,
  pattern_subscriber,
  session_settings,
  node_stop,
  node_kill,
  slot_move,
  failover,
  master_kill,
  master_stop_short,
  master_stop_long,
  replica_stop,
  replica_kill,
  kill_replicas,
  sentinel_stop,
  sentinel_kill,
  proxy_errors,
  member_stop,
  member_kill,
  clock_forward,
  clock_back,
  wrong_type,
  delete_key,
  forced_release,
  revocation,
  delete_watched,
};

/// Whether the fault is done to a process of a client, whatever it locks on.
constexpr bool is_of_client(FaultKind kind) noexcept { return kind <= FaultKind::client_hang; }

constexpr bool is_of_link(FaultKind kind) noexcept {
  return kind >= FaultKind::link_mute && kind <= FaultKind::link_late_delivery;
}

/// Whether the fault is done to a tool that a worker has started.
constexpr bool is_of_tool(FaultKind kind) noexcept {
  return kind == FaultKind::tool_stop || kind == FaultKind::tool_kill;
}

/// Whether the fault takes a minority of a quorum away, for so long that it fills a round.
constexpr bool is_of_member(FaultKind kind) noexcept {
  return kind == FaultKind::member_stop || kind == FaultKind::member_kill;
}

/// Whether the fault is done to a visitor that was asked for when the fault began: to the key that
/// it holds when the fault ends.
constexpr bool is_of_holder(FaultKind kind) noexcept {
  return kind == FaultKind::revocation || kind == FaultKind::delete_watched;
}

/// Whether the fault belongs into each round: its visitor is asked for, so it never happens by
/// chance.
constexpr bool is_of_each_round(FaultKind kind) noexcept {
  return is_of_holder(kind) || kind == FaultKind::client_hang;
}

/// Whether locks are granted about as fast as usual while the fault lasts.
constexpr bool keeps_pace(FaultKind kind) noexcept {
  return kind == FaultKind::pattern_subscriber || is_of_member(kind);
}

/// The thing that a fault is done to.
enum class Target : std::uint8_t {
  worker,  ///< one worker or its connection
  server,
  key,     ///< one key on the server
  holder,  ///< a key on the server, while a visitor holds it
};

/// The effects of a fault, as a mask. They excuse violations while it lasts, and for a while
/// afterwards (Limits::recovery). A deployment may excuse less or more (Deployment::excuses).
enum Excuse : unsigned {
  nothing = 0,
  silences = 1,     ///< no reply that was not on its way can arrive
  impairs = 2,      ///< replies are late or missing: BackendUnavailable is allowed
  refuses = 4,      ///< BackendRefused is allowed
  forgets = 8,      ///< ends holds on the server before their lease
  may_forget = 16,  ///< ends some of them
  tells_late = 32,  ///< nobody tells the holder of a loss before the fault has ended
};

struct FaultTraits {
  FaultKind kind;
  std::string_view name;
  Target target;
  int shortest_ms, longest_ms;
  unsigned excuses;

  [[nodiscard]] constexpr bool has(Excuse excuse) const noexcept { return (excuses & excuse) != 0; }
};

/// In the order of FaultKind.
inline constexpr auto fault_kinds = std::to_array<FaultTraits>({
    {FaultKind::client_stop_short, "client stopped briefly", Target::worker, 50, 350,
     silences | impairs},
    {FaultKind::client_stop_long, "client stopped", Target::worker, 1'600, 3'000,
     silences | impairs},
    {FaultKind::client_kill, "client killed", Target::worker, 20, 500, impairs},
    {FaultKind::client_descriptors, "no descriptors left", Target::worker, 200, 1'500, impairs},
    {FaultKind::client_fork, "client forks", Target::worker, 0, 0, impairs},
    {FaultKind::client_no_threads, "no thread can be made", Target::worker, 0, 0, impairs},
    {FaultKind::client_no_memory, "allocations fail", Target::worker, 200, 800, impairs},
    {FaultKind::client_hang, "held too long", Target::worker, 0, 0, nothing},
    {FaultKind::tool_stop, "tool stopped", Target::worker, 100, 3'000, impairs | tells_late},
    {FaultKind::tool_kill, "tool killed", Target::worker, 0, 0, nothing},
    {FaultKind::link_mute, "mute server", Target::worker, 200, 2'500, silences | impairs},
    {FaultKind::link_half_open, "half-open connection", Target::worker, 500, 2'500,
     silences | impairs},
    {FaultKind::link_bytewise, "one byte at a time", Target::worker, 500, 2'000, impairs},
    {FaultKind::link_cut, "connection reset", Target::worker, 0, 0, impairs},
    {FaultKind::link_cut_mid_reply, "reset in mid-reply", Target::worker, 50, 100, impairs},
    {FaultKind::link_refused, "connections refused", Target::worker, 200, 2'000,
     silences | impairs},
    {FaultKind::link_slow, "slow link", Target::worker, 500, 2'500, impairs},
    {FaultKind::link_late_delivery, "requests delivered late", Target::worker, 400, 2'000, impairs},
    {FaultKind::server_stop_short, "server stopped briefly", Target::server, 50, 350,
     silences | impairs},
    {FaultKind::server_stop_long, "server stopped", Target::server, 1'600, 3'000,
     silences | impairs},
    {FaultKind::server_kill, "server killed", Target::server, 100, 1'200, silences | impairs},
    {FaultKind::server_kill_empty, "server comes back empty", Target::server, 100, 1'200,
     silences | impairs | forgets},
    {FaultKind::server_shutdown, "server shut down", Target::server, 100, 800, silences | impairs},
    {FaultKind::server_pause, "CLIENT PAUSE ALL", Target::server, 100, 1'200, impairs},
    {FaultKind::server_pause_writes, "CLIENT PAUSE WRITE", Target::server, 100, 1'200, impairs},
    {FaultKind::kill_normal, "CLIENT KILL normal", Target::server, 0, 0, impairs},
    {FaultKind::kill_pubsub, "CLIENT KILL pubsub", Target::server, 0, 0, impairs},
    {FaultKind::flushall, "FLUSHALL", Target::server, 0, 0, forgets},
    {FaultKind::script_flush, "SCRIPT FLUSH", Target::server, 0, 0, nothing},
    {FaultKind::busy_script, "busy script", Target::server, 200, 900, impairs},
    {FaultKind::max_memory, "out of memory", Target::server, 300, 1'500, impairs | refuses},
    {FaultKind::no_replicas, "NOREPLICAS", Target::server, 300, 1'500, impairs | refuses},
    {FaultKind::forbidden_command, "forbidden command", Target::server, 200, 800,
     impairs | refuses},
    {FaultKind::pattern_subscriber, "PSUBSCRIBE *", Target::server, 800, 3'000, nothing},
    {FaultKind::session_settings, "session settings changed", Target::server, 800, 3'000, impairs},
    {FaultKind::node_stop, "node of a cluster stopped", Target::server, 50, 2'500, impairs},
    {FaultKind::node_kill, "node of a cluster killed", Target::server, 100, 1'200, impairs},
    {FaultKind::slot_move, "slot moves with its keys apart", Target::key, 200, 1'500, impairs},
    {FaultKind::failover, "failover by command", Target::server, 0, 0, impairs | may_forget},
    {FaultKind::master_kill, "master killed and replaced", Target::server, 100, 2'000,
     impairs | may_forget},
    {FaultKind::master_stop_short, "master stopped briefly", Target::server, 50, 350,
     silences | impairs | may_forget},
    {FaultKind::master_stop_long, "master stopped and replaced", Target::server, 1'600, 3'000,
     impairs | may_forget},
    {FaultKind::replica_stop, "replica stopped", Target::server, 50, 2'500, nothing},
    {FaultKind::replica_kill, "replica killed", Target::server, 100, 1'200, nothing},
    {FaultKind::kill_replicas, "CLIENT KILL replica", Target::server, 0, 0, nothing},
    {FaultKind::sentinel_stop, "sentinels stopped", Target::server, 50, 2'500, nothing},
    {FaultKind::sentinel_kill, "sentinel killed", Target::server, 100, 1'200, nothing},
    {FaultKind::proxy_errors, "proxy answers 502 or 503", Target::server, 500, 3'000, impairs},
    {FaultKind::member_stop, "member of a quorum stopped", Target::server, 60'000, 60'000, impairs},
    {FaultKind::member_kill, "member of a quorum killed", Target::server, 60'000, 60'000, impairs},
    {FaultKind::clock_forward, "server's clock jumps forward", Target::server, 0, 0, forgets},
    {FaultKind::clock_back, "server's clock back for a while", Target::server, 200, 1'500,
     may_forget},
    {FaultKind::wrong_type, "key of another type", Target::key, 200, 1'000, refuses | forgets},
    {FaultKind::delete_key, "key deleted", Target::key, 0, 0, forgets},
    {FaultKind::forced_release, "forced release", Target::key, 0, 0, forgets},
    {FaultKind::revocation, "revoked", Target::holder, 800, 1'500, nothing},
    {FaultKind::delete_watched, "deleted under a watch", Target::holder, 1'800, 2'500, forgets},
});

constexpr const FaultTraits& traits(FaultKind kind) noexcept {
  return fault_kinds[static_cast<std::size_t>(kind)];
}

}  // namespace latchkey::chaos
