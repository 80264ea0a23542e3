// How locks look on the server: their scripts, names and owners.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include <latchkey/backend.hpp>

#include "redis/protocol/owner_format.hpp"
#include "redis/protocol/scripts.hpp"

namespace latchkey::inline v1::detail::redis {

/// The elements of KEYS and ARGV, named as in the first lines of the scripts in lua/.
enum class Word : std::uint8_t {
  lock,
  queue,
  process_queue,
  timeouts,
  token,
  reader,  // the key that holds the lease of this owner's READ
  lease,
  owner,
  writer,  // the owner as the field of a WRITE
  wait,
  queues,
  tokens,
  tag,
  plain_channel,
  rw_channel,
  latch_channel,
  count,
  sharded,
  renews,          // whether the request is a renewal
  plain_channels,  // the prefix of the channels of all plain locks
  rw_channels,
  cursor,
  pattern,
  budget,
  permits,  // the key with the permits that are taken
  permit,   // the id of the hold's first permit
  taken,    // how many permits the hold has
  total,    // how many the semaphore has
  permit_channel,
  revoke_channel,  // also the name of the note of the last revocation
};

/// The call of a script.
struct Call {
  constexpr Call(const Script& text, std::size_t key_count, std::initializer_list<Word> all)
      : script(&text), keys(key_count), count(all.size()) {
    std::copy(all.begin(), all.end(), words.begin());
  }

  const Script* script;
  std::size_t keys;  // how many of the words are KEYS; the others are ARGV
  std::size_t count;
  std::array<Word, 11> words{};
};

/// One way to keep locks in Redis. The URI chooses it. All are constants.
struct Layout {
  /// The call that carries out the request. Not for acquire_all, subscribe and unsubscribe.
  const Call& (*call_for)(const Request& request) noexcept;
  const Script* acquire_all;
  const Script* check_batch;
  const Script* announce;
  OwnerFormat owners;
  std::string_view token_prefix;       ///< for the key with the last fencing token
  std::string_view channel_prefix;     ///< for the channel of plain locks
  std::string_view rw_channel_prefix;  ///< for READ and WRITE; empty: there are none, nor FAIR
  /// How soon a waiter tries again, because this holder's release may notify nobody. Empty: the
  /// holder is latchkey's own, or one that publishes as latchkey does.
  std::optional<std::chrono::milliseconds> (*poll_interval)(std::string_view holder) noexcept;
  /// The command without which no lock is released, as ACL rules spell it, and a call of it that
  /// changes nothing.
  std::string_view release_permission;
  std::span<const std::string_view> release_probe;
};

/// A key that no lock and nothing else uses.
inline constexpr std::string_view probe_key = "latchkey_probe";

/// Redisson's hashes, with queues for FAIR and for processes: names.hpp.
extern const Layout redisson_layout;

/// SET NX PX: a string whose value is the owner. REENTRANT and FENCED only.
[[nodiscard]] const Layout& set_layout(OwnerFormat owners) noexcept;

}  // namespace latchkey::inline v1::detail::redis
