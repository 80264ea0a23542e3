// A key of this process in the queue of one lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

#include "stores/etcd/sessions.hpp"
#include "stores/etcd/watches.hpp"
#include "stores/etcd/wire/messages.hpp"

namespace latchkey::inline v1::detail::etcd {

class LockQueue;

/// The end of the place of `id`; the id of nobody: `queue` tries again what has failed.
struct Expiry {
  LockQueue* queue;
  HoldId id;
};
using ExpiryTimers = std::multimap<Clock::time_point, Expiry>;

/// One key in the queue of the lock: the place of one id, or its hold. It holds the lock once no
/// key that excludes it was created before.
///
/// | stage     | the key                                     | next                           |
/// |-----------|---------------------------------------------|--------------------------------|
/// | unsettled | may exist: the acquire has no reply         | waiting, held (repeated); over |
/// | waiting   | exists, behind another that excludes it     | held, over                     |
/// | held      | exists, and none before it excludes it      | over                           |
/// | over      | is to be deleted, or ended with its session | removed once etcd confirms it  |
struct Place {
  enum class Stage : std::uint8_t { unsettled, waiting, held, over };

  /// Whose name the key has, once a hold that was a WRITE is a READ.
  ///
  /// | key_of   | meaning                                                          | next     |
  /// |----------|------------------------------------------------------------------|----------|
  /// | its_type | it is the key of what the place is                               | writer   |
  /// | writer   | it is a writer's: each check tries to replace it, which may not  | its_type |
  /// |          | be while somebody behind it would be granted the lock then       | either   |
  /// | either   | it may have been replaced: an attempt has no reply               | its_type |
  enum class KeyOf : std::uint8_t { its_type, writer, either };

  HoldId id;
  LockType type = LockType::REENTRANT;
  Sink* sink = nullptr;
  Session* session = nullptr;
  std::string key;
  KeyOf key_of = KeyOf::its_type;
  Stage stage = Stage::unsettled;
  std::int64_t revision = 0;  ///< its create revision; 0: not known
  std::uint32_t tokens = 1;
  bool fenced = false;  ///< Request::wants_token() of the acquire
  bool queues = false;  ///< Request::queues of the acquire: a release may grant it the lock
  std::chrono::milliseconds lease{};
  Watches::Id watch = 0;  ///< for the deletion of its predecessor, or while held of its own key
  std::string watched{};  ///< the key of that predecessor
  bool watch_created = false;  ///< held: etcd has confirmed the watch
  bool first = false;          ///< its predecessor is gone, and it was not granted yet
  Clock::time_point ends = Clock::never();
  ExpiryTimers::iterator timer{};

  /// The last token of the block; 0: the place wants none. Each create revision has room for
  /// 65 536 tokens, so that holds that pass among the threads of a process have their own.
  [[nodiscard]] std::uint64_t token() const noexcept {
    constexpr std::uint32_t most = 1U << 16U;
    if (!fenced) return 0;
    return (static_cast<std::uint64_t>(revision) << 16U) + std::min(tokens, most) - 1;
  }
};

/// The value of the key: the id and the note, which inspect and LockTimeout show.
[[nodiscard]] std::string value_of(const Request& request);

/// The holder, as a busy acquire reports it.
struct HolderName {
  std::string text;
  bool foreign = false;  ///< not a hold of latchkey
};
[[nodiscard]] HolderName holder_of(const KeyValue& key);

[[nodiscard]] Outcome unknown_because(std::string why);
/// The outcome of a request whose call failed; `key` is named if access to it is not permitted.
[[nodiscard]] Outcome outcome_of(const CallEnd& end, std::string_view key);

}  // namespace latchkey::inline v1::detail::etcd
