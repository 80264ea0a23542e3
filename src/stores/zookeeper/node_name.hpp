// The paths of keys, and the names of the nodes below them, as Curator writes them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <latchkey/hold_id.hpp>
#include <latchkey/lock_type.hpp>

#include "stores/zookeeper/recipe/ticket.hpp"

namespace latchkey::inline v1::detail::zookeeper {

/// The path of a key, below the folder of the locks. A '/' separates two names, as it does for
/// Curator: the key `orders/42` is the node `42` of the node `orders`. Text that no path of
/// ZooKeeper can contain is percent-encoded, and '%' itself: an empty name's '/', the names `.` and
/// `..`, control characters and text that is not UTF-8. Different keys have different paths.
[[nodiscard]] std::string path_of_key(std::string_view key);

/// The key of that path.
[[nodiscard]] std::string key_of_path(std::string_view path);

/// The UUID of a node: that of the Locks with the number of the hold in its last bits. A reply that
/// was lost leaves a node that is found by it.
[[nodiscard]] TicketOwner owner_of(const HoldId& id) noexcept;

/// `_c_<uuid>-lock-`, `_c_<uuid>-__READ__` or `_c_<uuid>-__WRIT__`. The server appends ten digits.
[[nodiscard]] std::string node_prefix(const HoldId& id, LockType type);

/// The name of the reader that takes the position of this writer.
[[nodiscard]] std::string reader_at(const HoldId& id, std::string_view writer);

/// The entry with this name; empty: it is no node of a lock.
[[nodiscard]] std::optional<Ticket> parse_node(std::string_view name);

/// `_w_<uuid>`: the process waits for notifications about the lock.
[[nodiscard]] std::string subscriber_name(const TicketOwner& process);
[[nodiscard]] bool is_subscriber(std::string_view name) noexcept;

/// Returns the contents of a node: the id of the hold, and after a space its note, if there is one.
[[nodiscard]] std::string node_data(const HoldId& id, std::string_view note);

}  // namespace latchkey::inline v1::detail::zookeeper
