// The names that a lock uses in Redis: keys, channels, owners.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

#include "redis/protocol/layout.hpp"

namespace latchkey::inline v1::detail::redis {

/// Redisson's rule for all names derived from the lock's key N: tag(N) is N if N contains a brace,
/// and {N} otherwise, so that all of them have the same hash slot.
///
/// | name                              | contents                                                |
/// |-----------------------------------|---------------------------------------------------------|
/// | N                                 | the lock: a hash of owners, and of `mode` for READ and  |
/// |                                   | WRITE                                                   |
/// | tag(N):owner:rwlock_timeout:1     | the lease of one reader                                 |
/// | redisson_lock_queue:tag(N)        | FAIR: owners that wait                                  |
/// | redisson_lock_timeout:tag(N)      | FAIR: until when each counts, epoch ms                  |
/// | redisson_lock_token:tag(N)        | FENCED, and a WRITE or FAIR with a token: the last one  |
/// | latchkey_process_queue:tag(N)     | processes that wait in line; `:` follows tag(N) if N    |
/// |                                   | contains a brace; latchkey only                         |
/// | the name above with `:places`     | for each: the end of its place, its lease, its tokens   |
/// | latchkey_waiting_writer:tag(N)    | a WRITE waits: new READs are kept out; `:` as above     |
/// | latchkey_holder:tag(N):owner      | the holder's description of itself; latchkey only       |
/// | redisson_lock__channel:tag(N)     | channel: released. FAIR: followed by `:owner`, the      |
/// |                                   | channel of one waiter; by `:uuid`, that of one process  |
/// | redisson_rwlock:tag(N)            | channel: READ or WRITE released                         |
/// | latchkey_revoke:tag(N)            | channel: somebody asks the holders to release; latchkey |
/// |                                   | only; `:` as above                                      |
/// | latchkey_revoke:tag(N)            | key: when that was last heard, and who held N then      |
///
/// The names of a latch:
///
/// | name                                  | contents                                            |
/// |---------------------------------------|-----------------------------------------------------|
/// | N                                     | the count; no key: zero                             |
/// | redisson_countdownlatch__channel__{N} | channel: 0: it has reached zero; 1: a new count, or |
/// |                                       | it is deleted                                       |
///
/// The names of a semaphore:
///
/// | name                                | contents                                              |
/// |-------------------------------------|-------------------------------------------------------|
/// | N                                   | a string: how many permits are available              |
/// | tag(N):timeout                      | the permits that are taken, each with the end of its  |
/// |                                     | lease, epoch ms                                       |
/// | latchkey_permit_queue:tag(N)        | processes that wait, in the order in which they came  |
/// | latchkey_permit_queue:tag(N):places | how many permits each wants, and until when, epoch ms |
/// | redisson_sc:tag(N)                  | channel: permits are available                        |
///
/// The names of a SET NX PX lock:
///
/// | name                              | contents                                                |
/// |-----------------------------------|---------------------------------------------------------|
/// | N                                 | the lock: a string, the owner                           |
/// | latchkey_set_token:tag(N)         | FENCED: the last token                                  |
/// | latchkey_holder:tag(N):owner      | as above                                                |
/// | latchkey_set_channel:tag(N)       | channel: released                                       |
struct Tag {
  explicit Tag(std::string_view key) noexcept
      : name(key), braced(key.find('{') != std::string_view::npos) {}
  [[nodiscard]] std::string_view open() const noexcept { return braced ? "" : "{"; }
  [[nodiscard]] std::string_view close() const noexcept { return braced ? "" : "}"; }

  std::string_view name;
  bool braced;
};

inline constexpr std::string_view queue_prefix = "redisson_lock_queue:";
inline constexpr std::string_view timeout_prefix = "redisson_lock_timeout:";
inline constexpr std::string_view token_prefix = "redisson_lock_token:";
inline constexpr std::string_view holder_prefix = "latchkey_holder:";
inline constexpr std::string_view process_queue_prefix = "latchkey_process_queue:";
inline constexpr std::string_view permit_queue_prefix = "latchkey_permit_queue:";
inline constexpr std::string_view waiting_writer_prefix = "latchkey_waiting_writer:";
/// The prefix of the channel of a latch. Its key follows in braces, whatever braces it contains.
inline constexpr std::string_view latch_channel_prefix = "redisson_countdownlatch__channel__{";
inline constexpr std::string_view lock_channel_prefix = "redisson_lock__channel:";
inline constexpr std::string_view rw_channel_prefix = "redisson_rwlock:";
/// The suffix that makes a lock's channel the one of those who wait in line.
inline constexpr std::string_view in_line_suffix = ":in_line";
/// The prefix of the channel on which those who hold a lock are asked to release it, and of the
/// note of that (lua/parts/revocation.lua).
inline constexpr std::string_view revoke_channel_prefix = "latchkey_revoke:";
/// The only message on it.
inline constexpr std::string_view revoke_message = "1";
inline constexpr std::string_view permit_channel_prefix = "redisson_sc:";
/// A message on the channel of READ and WRITE that repeats the one before it for clients of
/// Redisson, which may miss that one (lua/parts/publish_to_all.lua).
inline constexpr std::string_view for_redisson_only = "00";
inline constexpr std::string_view set_token_prefix = "latchkey_set_token:";
inline constexpr std::string_view set_channel_prefix = "latchkey_set_channel:";

/// The locks to which a queue of waiters belongs, by its name: the process queue of a lock has one,
/// the FAIR queue of the lock `a` may also be that of `{a}`. Empty: it is the name of no queue.
struct LocksOfQueue {
  explicit LocksOfQueue(std::string_view name) noexcept;

  std::array<std::string_view, 2> keys{};
};

/// Why no lock may have this name, as a clause; empty: the name is valid. Braces must form a hash
/// tag (`{` and a later `}` with text between them). Otherwise the lock's keys have different slots
/// in a cluster, and Redisson acquires such a lock and can never release it. The prefixes of the
/// tables above are reserved as well, except those of the channels of latches and semaphores.
[[nodiscard]] std::optional<std::string> refuse_name(std::string_view key);

/// The suffix after tag(N) in the name of the key with the permits of a semaphore that are taken.
inline constexpr std::string_view permits_suffix = ":timeout";
/// Why no semaphore may have this name, as a clause; empty: the name is valid. tag(`a`) =
/// tag(`{a}`), so two semaphores of these names would have their taken permits in one key.
[[nodiscard]] std::optional<std::string> refuse_semaphore_name(std::string_view key);

/// The suffix after tag(N) and the owner in the name of the key with the lease of one reader.
inline constexpr std::string_view reader_suffix = ":rwlock_timeout:1";
/// The suffix after the owner in the field of a WRITE.
inline constexpr std::string_view writer_suffix = ":write";

/// The channels that a waiter subscribes to. Every message means that the lock was released.
///
/// | type   | channels                                                                           |
/// |--------|------------------------------------------------------------------------------------|
/// | FAIR   | that of plain locks, on which REENTRANT and FENCED holders publish, and the        |
/// |        | waiter's own                                                                       |
/// | PERMIT | that of the semaphore                                                              |
/// | others | that of plain locks, and that of READ and WRITE if the layout has these types: the |
/// |        | holder may be of either kind                                                       |
///
/// One that waits in line (Request::in_line) also subscribes to each of these with `:in_line`
/// behind it, so that a release knows whom the process queue serves (lua/parts/notify.lua).
///
/// A subscription to grants (Request::queues) is to the channel of the process only, one to a latch
/// (Request::latch) or to revocations (Request::revocations) to its channel only.
///
/// Two keys may share a channel, because tag(`a`) = tag(`{a}`). The release of one key then makes
/// the waiters of the other one ask in vain.
struct Channels {
  std::array<std::string, 4> names;
  std::size_t count = 2;

  [[nodiscard]] std::span<const std::string> all() const noexcept {
    return std::span(names).first(count);
  }
};
[[nodiscard]] Channels channels_of(const Request& request, const Layout& layout = redisson_layout);

/// The channel on which those who hold the lock of `tag` are asked to release it, and the name of
/// the note of that.
[[nodiscard]] std::string revoke_channel_of(const Tag& tag);

}  // namespace latchkey::inline v1::detail::redis
