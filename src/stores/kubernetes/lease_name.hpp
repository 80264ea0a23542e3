// The name of the Lease of a key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail::kubernetes {

/// The longest name of a Lease, an RFC 1123 subdomain.
inline constexpr std::size_t longest_name = 253;

/// Whether the text is an RFC 1123 label, as the name of a namespace is.
[[nodiscard]] bool is_label(std::string_view text) noexcept;

/// A key that is the name of a Lease is its own name. In all others, each byte that cannot be there
/// becomes `x--` and its two hexadecimal digits: "leader:billing" is "leaderx--3abilling". The
/// name may be longer than `longest_name`.
[[nodiscard]] std::string lease_name_of(std::string_view key);

/// The key with this name; empty: no key has it.
[[nodiscard]] std::optional<std::string> key_of(std::string_view lease_name);

}  // namespace latchkey::inline v1::detail::kubernetes
