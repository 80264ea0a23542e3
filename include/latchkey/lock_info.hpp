// What a backend says of a key when it is asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/lock_type.hpp>

namespace latchkey {

/// One holder as the backend knows it.
struct HolderInfo {
  std::string id;  ///< `<uuid>:<number>`, as HoldId::text() gives it
  /// Holds counted at the backend (Java re-enters there).
  std::uint32_t count = 1;
  std::optional<std::chrono::milliseconds> left;  ///< of its lease; empty where it has no end
  /// What it says of itself (Options::announce): "Bank::deposit (bank.cpp:12) on web-3, process 7".
  std::string announced{};
};

/// A look at one key at one moment: true when the backend answered, not necessarily any longer.
struct LockInfo {
  std::string key;
  bool locked = false;
  /// The type family that is known to the backend: READ, WRITE, or REENTRANT for any plain lock.
  LockType type = LockType::REENTRANT;
  std::vector<HolderInfo> holders;
  /// Owners that wait in the backend's own queue (FAIR), in their order.
  std::vector<std::string> queue;
  /// The last fencing token given for the key, where there is one.
  std::optional<std::uint64_t> fencing_token;
};

}  // namespace latchkey
