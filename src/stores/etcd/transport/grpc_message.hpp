// How gRPC writes messages and texts.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail::etcd {

/// Each message has a prefix: whether it is compressed, and its length.
[[nodiscard]] std::string with_prefix(std::string_view message);
[[nodiscard]] std::size_t size_with_prefix(std::string_view message) noexcept;
/// The length of the first message, without its prefix; 0: the prefix has not arrived.
[[nodiscard]] std::size_t size_of_message(std::string_view received) noexcept;
/// A message that has arrived as a whole leaves the buffer; false: there is none.
bool take_message(std::string& received, std::string& message);
/// The text of a grpc-message header.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace latchkey::inline v1::detail::etcd
