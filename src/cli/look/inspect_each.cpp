// Asks for the states of several locks.
// SPDX-License-Identifier: BSL-1.0
#include "cli/look/inspect_each.hpp"

#include <latchkey/error.hpp>

namespace latchkey::inline v1::cli {

std::vector<LockInfo> inspect_each(const Locks& locks, std::span<const std::string> names,
                                   const std::function<void(std::string_view why)>& refused) {
  std::vector<std::string> keys(names.begin(), names.end());
  const std::size_t prefix = locks.options().prefix.size();
  for (std::string& key : keys) key.erase(0, prefix);  // which inspect adds
  try {
    return locks.inspect_all(keys);
  } catch (const BackendRefused&) {  // at least one of them
  }
  std::vector<LockInfo> infos;
  for (const std::string& key : keys) {
    try {
      infos.push_back(locks.inspect(key));
    } catch (const BackendRefused& error) {
      refused(error.what());
    }
  }
  return infos;
}

}  // namespace latchkey::inline v1::cli
