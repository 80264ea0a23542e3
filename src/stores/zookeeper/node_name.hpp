// The names of the nodes below a lock, as Curator writes them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <latchkey/hold_id.hpp>
#include <latchkey/lock_type.hpp>

#include "stores/zookeeper/recipe/ticket.hpp"

namespace latchkey::inline v1::detail::zookeeper {

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
