// The names that a lock has in Redis: keys beside its own, channels, owners.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/hold_id.hpp>

namespace latchkey::detail::redis {

/// Redisson's rule for everything beside the lock's own key N: tag(N) is N where N has a brace, and
/// {N} elsewhere, so that all of it lies in one hash slot.
///
/// | name                              | what                                                    |
/// |-----------------------------------|---------------------------------------------------------|
/// | N                                 | the lock: a hash of owners, and of `mode` for READ and  |
/// |                                   | WRITE                                                   |
/// | tag(N):owner:rwlock_timeout:1     | the lease of one reader                                 |
/// | redisson_lock_queue:tag(N)        | FAIR: owners that wait                                  |
/// | redisson_lock_timeout:tag(N)      | FAIR: until when each counts, epoch ms                  |
/// | redisson_lock_token:tag(N)        | FENCED: the last token                                  |
/// | latchkey_holder:tag(N):owner      | what that holder says of itself, for people; latchkey's  |
/// | redisson_lock__channel:tag(N)     | channel: released; with `:owner` behind it, FAIR: your  |
/// |                                   | turn                                                    |
/// | redisson_rwlock:tag(N)            | channel: READ or WRITE released                         |
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
inline constexpr std::string_view lock_channel_prefix = "redisson_lock__channel:";
inline constexpr std::string_view rw_channel_prefix = "redisson_rwlock:";

/// Why no lock may have this name, as a clause; empty for a good one. Braces must make a hash tag
/// (`{` and a later `}` with something between), or the lock's keys lie in different slots of a
/// cluster: Redisson takes such a lock and can never release it. The names that a lock needs beside
/// its key are no locks either.
[[nodiscard]] std::optional<std::string> refuse_name(std::string_view key);

/// HoldId::text() without an allocation.
class OwnerText {
 public:
  explicit OwnerText(const HoldId& id) noexcept;
  operator std::string_view() const noexcept { return {text_.data(), size_}; }  // NOLINT

 private:
  std::array<char, 36 + 1 + 20> text_;
  std::size_t size_;
};

/// Where a subscriber hears of its key. A message there means: `released`, whatever its text.
///
/// | type      | channels                                                                       |
/// |-----------|--------------------------------------------------------------------------------|
/// | FAIR      | its own, and the one of all plain locks: a REENTRANT or FENCED holder tells    |
/// |           | nobody in particular                                                           |
/// | all other | that of plain locks and that of READ and WRITE: a subscription says only which |
/// |           | key, and a lock of the other family may be what is in the way                  |
///
/// The way back is the subscriber's own list of who subscribed to which channel: two keys may share
/// one, because tag(`a`) = tag(`{a}`). Whoever hears of another's release asks once for nothing.
struct Channels {
  std::array<std::string, 2> names;
};
[[nodiscard]] Channels channels_of(std::string_view key, LockType type, const HoldId& id);

}  // namespace latchkey::detail::redis
