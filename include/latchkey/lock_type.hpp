// The lock types.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// How a key is locked.
///
/// | type      | who may hold                                                        |
/// |-----------|---------------------------------------------------------------------|
/// | REENTRANT | one owner                                                           |
/// | FAIR      | one owner, first come first served across processes                 |
/// | READ      | any number of owners while no writer holds                          |
/// | WRITE     | one owner, no readers                                               |
/// | FENCED    | one owner, with a fencing token larger than any given for it before |
/// | PERMIT    | as many as a semaphore has permits; each acquire is on its own      |
///
/// WRITE and FAIR have a fencing token as well if it is asked for (Attempt::fenced).
///
/// One key is locked with one family of types: plain (REENTRANT, FAIR, FENCED) or READ and WRITE.
/// Mixing families on one key is safe (the other family counts as busy) but never useful. A key
/// with PERMIT is a semaphore (Locks::semaphore): every other type is refused for it, and PERMIT
/// for a key that is a lock.
enum class LockType : std::uint8_t { REENTRANT, FAIR, READ, WRITE, FENCED, PERMIT };

/// True for the types that several owners can hold at the same time.
constexpr bool is_shared(LockType type) noexcept {
  return type == LockType::READ || type == LockType::PERMIT;
}

/// The name of the enumerator: "REENTRANT", "FAIR", "READ", "WRITE", "FENCED" or "PERMIT".
constexpr std::string_view to_string(LockType type) noexcept {
  switch (type) {
    case LockType::REENTRANT: return "REENTRANT";
    case LockType::FAIR: return "FAIR";
    case LockType::READ: return "READ";
    case LockType::WRITE: return "WRITE";
    case LockType::FENCED: return "FENCED";
    case LockType::PERMIT: return "PERMIT";
  }
  return "?";
}

/// The type of a lock with that name in capitals; empty for any other text. PERMIT is no type of a
/// lock: a semaphore also has a number of permits.
constexpr std::optional<LockType> parse_lock_type(std::string_view name) noexcept {
  for (LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    if (to_string(type) == name) return type;
  }
  return std::nullopt;
}

namespace detail {

/// Whether a process may keep a lock of `type` after its release (Options::cache).
constexpr bool can_be_kept(LockType type) noexcept {
  return type != LockType::FAIR && type != LockType::PERMIT;
}

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
