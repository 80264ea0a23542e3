// Keys as paths of ZooKeeper.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

namespace latchkey::inline v1::detail::zookeeper {

/// The path of a key, below the folder of the locks. A '/' separates two names, as it does for
/// Curator: the key `orders/42` is the node `42` of the node `orders`. Text that no path of
/// ZooKeeper can contain is percent-encoded, and '%' itself: an empty name's '/', the names `.` and
/// `..`, control characters and text that is not UTF-8. Different keys have different paths.
[[nodiscard]] std::string path_of_key(std::string_view key);

/// The key of that path.
[[nodiscard]] std::string key_of_path(std::string_view path);

}  // namespace latchkey::inline v1::detail::zookeeper
