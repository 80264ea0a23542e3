// The names of the keys in the queue of one lock, and which of them exclude each other.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/queue_keys.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <limits>

namespace latchkey::inline v1::detail::etcd {
namespace {

constexpr std::string_view of_readers = "read/", of_writers = "write/";

/// Whether the text is the lease as the names of plain keys have it.
bool names_lease(std::string_view text, std::int64_t lease) noexcept {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc() && stop == text.data() + text.size() &&
         number == static_cast<std::uint64_t>(lease);
}

bool is_decimal(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

KeyKind kind_of(LockType type) noexcept {
  if (type == LockType::READ) return KeyKind::read;
  return type == LockType::WRITE ? KeyKind::write : KeyKind::plain;
}

KeyKind kind_of(std::string_view key, std::string_view directory) noexcept {
  const std::string_view rest = key.substr(std::min(directory.size(), key.size()));
  if (rest.starts_with(of_readers)) return KeyKind::read;
  return rest.starts_with(of_writers) ? KeyKind::write : KeyKind::plain;
}

std::string hex_of(std::int64_t lease) {
  char text[17] = {};
  std::snprintf(text, sizeof text, "%" PRIx64, static_cast<std::uint64_t>(lease));
  return text;
}

std::string key_of(KeyKind kind, std::string_view directory, std::int64_t lease) {
  std::string key(directory);
  if (kind == KeyKind::plain) return key += hex_of(lease);
  key += kind == KeyKind::read ? of_readers : of_writers;
  return key += std::to_string(static_cast<std::uint64_t>(lease));
}

std::vector<KeyRange> excluding(KeyKind kind, const std::string& directory) {
  std::string end = end_of_prefix(directory);
  if (kind != KeyKind::read) return {{directory, std::move(end)}};
  std::string readers = directory + std::string(of_readers);
  std::string after_readers = end_of_prefix(readers);
  return {{directory, std::move(readers)}, {std::move(after_readers), std::move(end)}};
}

const KeyValue* last_created(std::span<const RangeReply> ranges) noexcept {
  const KeyValue* last = nullptr;
  for (const RangeReply& range : ranges) {
    if (range.found.empty()) continue;
    const KeyValue& first = range.found.front();
    if (last == nullptr || first.create_revision > last->create_revision) last = &first;
  }
  return last;
}

// The first key holds the lock, and so do the readers that only readers precede.
std::vector<bool> holding(std::span<const KeyValue> keys, std::string_view directory) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), first_to_exclude = first;
  for (const KeyValue& key : keys) {
    first = std::min(first, key.create_revision);
    if (kind_of(key.key, directory) == KeyKind::read) continue;
    first_to_exclude = std::min(first_to_exclude, key.create_revision);
  }
  std::vector<bool> holds;
  for (const KeyValue& key : keys) {
    const bool reads = kind_of(key.key, directory) == KeyKind::read;
    holds.push_back(key.create_revision == first ||
                    (reads && key.create_revision < first_to_exclude));
  }
  return holds;
}

// The key of a reader of the lock `a` may not be taken for a plain one of a lock `a/read`: the
// names of the latter end with their lease in hexadecimal.
std::optional<std::string_view> lock_of(const KeyValue& key) noexcept {
  const std::string_view text = key.key;
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || key.lease == 0) return std::nullopt;
  const std::string_view last = text.substr(slash + 1);
  if (names_lease(last, key.lease)) return text.substr(0, slash);
  if (!is_decimal(last)) return std::nullopt;
  std::string_view lock = text.substr(0, slash + 1);
  for (const std::string_view part : {of_readers, of_writers}) {
    if (!lock.ends_with(part)) continue;
    lock.remove_suffix(part.size());
    if (lock.size() < 2 || lock.back() != '/') return std::nullopt;
    return lock.substr(0, lock.size() - 1);
  }
  return std::nullopt;
}

bool is_of_another_lock(const KeyValue& key, std::string_view directory) noexcept {
  const auto lock = lock_of(key);
  return lock && *lock != directory.substr(0, directory.size() - 1);
}

}  // namespace latchkey::inline v1::detail::etcd
