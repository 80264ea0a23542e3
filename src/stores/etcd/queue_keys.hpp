// The names of the keys in the queue of one lock, and which of them exclude each other.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/lock_type.hpp>

#include "stores/etcd/wire/messages.hpp"

namespace latchkey::inline v1::detail::etcd {

/// How a place takes part in the queue. The name of its key says so.
///
/// | kind  | key                              | Go                      | waits for earlier keys |
/// |-------|----------------------------------|-------------------------|------------------------|
/// | plain | `<name>/<lease in hexadecimal>`  | concurrency.Mutex       | of any kind            |
/// | write | `<name>/write/<lease in digits>` | recipe.RWMutex.Lock     | of any kind            |
/// | read  | `<name>/read/<lease in digits>`  | recipe.RWMutex.RLock,   | but those of readers   |
/// |       |                                  | which waits for writers |                        |
///
/// RWMutex has the time in the place of the lease: a number of 19 digits, too.
enum class KeyKind : std::uint8_t { plain, read, write };

[[nodiscard]] KeyKind kind_of(LockType type) noexcept;
/// The kind of a key in the queue of the lock whose keys are below `directory`.
[[nodiscard]] KeyKind kind_of(std::string_view key, std::string_view directory) noexcept;

/// The key of a place in the queue below `directory`.
[[nodiscard]] std::string key_of(KeyKind kind, std::string_view directory, std::int64_t lease);
/// A lease as the names of plain keys have it.
[[nodiscard]] std::string hex_of(std::int64_t lease);

/// All keys from `begin` up to `end`.
struct KeyRange {
  std::string begin, end;
};
/// The keys in the queue below `directory` that exclude a place of `kind`: it waits for those of
/// them that were created before its own key, and so for the last one of these.
[[nodiscard]] std::vector<KeyRange> excluding(KeyKind kind, const std::string& directory);
/// The key that was created last among the first ones of each range; null: the ranges are empty.
[[nodiscard]] const KeyValue* last_created(std::span<const RangeReply> ranges) noexcept;

/// Which of the keys in the queue below `directory` hold the lock. In any order.
[[nodiscard]] std::vector<bool> holding(std::span<const KeyValue> keys, std::string_view directory);

/// The lock in whose queue the key is, if it has the name of such a key and a lease.
[[nodiscard]] std::optional<std::string_view> lock_of(const KeyValue& key) noexcept;
/// Whether a key below `directory` is in the queue of another lock, such as `a/b` below `a/`.
[[nodiscard]] bool is_of_another_lock(const KeyValue& key, std::string_view directory) noexcept;

}  // namespace latchkey::inline v1::detail::etcd
