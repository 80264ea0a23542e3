// How gRPC writes messages and texts.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/transport/grpc_call.hpp"

#include <charconv>
#include <system_error>

namespace latchkey::inline v1::detail::etcd {
namespace {

/// The size of the prefix of each message: whether it is compressed, and its length.
constexpr std::size_t prefix_size = 5;

}  // namespace

std::string with_prefix(std::string_view message) {
  std::string body(prefix_size, '\0');
  for (std::size_t byte = 1; byte < prefix_size; ++byte) {
    body[byte] = static_cast<char>(message.size() >> (8 * (prefix_size - 1 - byte)));
  }
  return body.append(message);
}

std::size_t size_of_message(std::string_view received) noexcept {
  if (received.size() < prefix_size) return 0;
  std::size_t size = 0;
  for (std::size_t byte = 1; byte < prefix_size; ++byte) {
    size = size << 8U | static_cast<unsigned char>(received[byte]);
  }
  return size;
}

bool take_message(std::string& received, std::string& message) {
  const std::size_t length = size_of_message(received);
  if (received.size() < prefix_size + length) return false;
  message.assign(received, prefix_size, length);
  received.erase(0, prefix_size + length);
  return true;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned value = 0;
    const bool escaped =
        text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(&text[at + 1], &text[at + 1] + 2, value, 16).ec == std::errc();
    decoded += escaped ? static_cast<char>(value) : text[at];
    if (escaped) at += 2;
  }
  return decoded;
}

}  // namespace latchkey::inline v1::detail::etcd
