// Asks for the states of several locks.
// SPDX-License-Identifier: BSL-1.0
#include "cli/look/inspect_each.hpp"

#include <latchkey/error.hpp>

namespace latchkey::inline v1::cli {

// A backend refuses to describe a semaphore as a lock, and says so in words of its own.
LockInfo inspect(const Locks& locks, const std::string& key) {
  try {
    return locks.inspect(key);
  } catch (const BackendRefused&) {
    if (!locks.capabilities().permits) throw;
    constexpr int any_number = 1;  // the size of a semaphore that would be made
    try {
      LockInfo info = locks.semaphore(key, any_number).inspect();
      if (info.permits) return info;
    } catch (const BackendRefused&) {  // neither: the first refusal says why
    }
    throw;
  }
}

std::vector<LockInfo> inspect_each(const Locks& locks, std::span<const std::string> keys,
                                   const std::function<void(std::string_view why)>& refused) {
  try {
    return locks.inspect_all(keys);
  } catch (const BackendRefused&) {  // at least one of them
  }
  std::vector<LockInfo> infos;
  for (const std::string& key : keys) {
    try {
      infos.push_back(inspect(locks, key));
    } catch (const BackendRefused& error) {
      refused(error.what());
    }
  }
  return infos;
}

}  // namespace latchkey::inline v1::cli
