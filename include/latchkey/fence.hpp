// Fence: the key, the type and the fencing token of a hold, as a value that travels with a request.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <latchkey/error.hpp>
#include <latchkey/lock_type.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The proof that its sender held a lock: what Chubby calls a sequencer. The holder sends it with
/// each request (Hold::fence), and the resource refuses a request whose token is lower than the
/// highest that it has seen for the key.
///
/// A Fence is a plain value: it does not keep the lock, may be copied to any thread, and says
/// nothing about whether the lock is still held. It is no secret and no signature: a resource
/// believes whoever may send requests.
///
/// A token is at least 1. It fits a signed 64-bit integer (bigint) on each store of latchkey.
/// docs/fencing.md says on which stores it also fits a JSON number, which is exact below 2^53.
struct Fence {
  std::string key{};  ///< without the prefix of the Locks, any bytes
  LockType type = LockType::FENCED;
  std::uint64_t token = 0;

  /// `key/TYPE/token`, such as "order:42/FENCED/1764352651000000": printable ASCII without spaces,
  /// commas, semicolons and quotes, so it is a value of an HTTP header as it is, and a list of them
  /// may be separated by commas. Bytes of the key that are none of these, `/` and `%` are
  /// percent-encoded. parse() is its inverse for every key.
  [[nodiscard]] std::string text() const;

  /// The key as it is in text(). Guards use it as the name of the key, because it needs no quoting
  /// in SQL and is readable in a table. At most three times as long as the key.
  [[nodiscard]] std::string escaped_key() const;

  /// Reads a text of that form; any byte of the key may be percent-encoded. Throws FenceError, with
  /// the column, for a text that is no fence.
  [[nodiscard]] static Fence parse(std::string_view text);

  /// Whether this one was granted later than `other`, of the same key. Throws std::invalid_argument
  /// if the keys differ: tokens of different keys say nothing about each other. The types do not
  /// matter, since a key has one sequence of tokens.
  [[nodiscard]] bool is_newer_than(const Fence& other) const;

  friend bool operator==(const Fence&, const Fence&) = default;
};

/// Remembers the highest token of each key: admit(fence) throws FenceRejected if a higher one was
/// admitted before. SeenFences and the tables of latchkey/fences/ are such guards.
template <class T>
concept FenceGuard = requires(T& guard, const Fence& fence) { guard.admit(fence); };

/// The first step of a receiver: reads `text`, which a request brought, and requires that it is
/// about `key`, the key that guards the resource of this request, and of `type`. Otherwise a holder
/// of any other lock could write here. Throws FenceError. The token is not checked yet: give the
/// result to a guard, or use the other check_fence.
Fence check_fence(std::string_view text, std::string_view key, LockType type = LockType::FENCED);

/// Both steps of a receiver: check_fence(text, key, type), then guard.admit(). Throws FenceError or
/// what admit throws, which is FenceRejected for a fence that is too old.
template <FenceGuard Guard>
Fence check_fence(std::string_view text, std::string_view key, Guard&& guard,
                  LockType type = LockType::FENCED) {
  Fence fence = check_fence(text, key, type);
  guard.admit(fence);
  return fence;
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
