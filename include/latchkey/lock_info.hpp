// The backend's information about a key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/lock_type.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// One holder, as the backend reports it.
struct HolderInfo {
  std::string id;  ///< `<uuid>:<number>`, as HoldId::text() gives it
  /// The holds counted at the backend (Redisson counts re-entry there).
  std::uint32_t count = 1;
  std::optional<std::chrono::milliseconds> left;  ///< the rest of its lease; empty if it has no end
  /// The holder's own description (Options::announce): "Bank::deposit (bank.cpp:12) on web-3,
  /// process 7".
  std::string announced{};
  /// How long ago somebody asked its holders to release the lock and one of them was told
  /// (Locks::revoke). Empty: nobody has asked this one, or the leases that ran then have ended.
  std::optional<std::chrono::milliseconds> revoked{};
};

/// The permits of a semaphore.
struct PermitInfo {
  /// Negative after Semaphore::set_total made them fewer than are taken.
  std::int64_t available = 0;
  std::int64_t total = 0;
};

/// The state of one key when the backend replied. It may have changed since then.
struct LockInfo {
  std::string key;  ///< without the prefix
  bool locked = false;
  /// The type family that the backend knows: READ, WRITE, PERMIT, or REENTRANT for any plain lock.
  LockType type = LockType::REENTRANT;
  std::vector<HolderInfo> holders;
  /// Owners that wait in the backend's own queue (FAIR), in the order of the queue.
  std::vector<std::string> queue;
  /// How many connections are subscribed to the lock's notifications: one for each process that
  /// waits, or one for each waiter. Empty: the backend cannot tell.
  std::optional<std::uint64_t> subscribers{};
  /// The last fencing token given for the key, if there is one.
  std::optional<std::uint64_t> fencing_token;
  /// PERMIT: not empty if the semaphore exists. Its holders are then the permits that are taken, at
  /// most 1 000 of them, each with the id under which Redisson knows it, if the backend has any.
  std::optional<PermitInfo> permits{};
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
