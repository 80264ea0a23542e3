// The calls of gRPC: their results, and the messages that carry them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "stores/etcd/wire/method.hpp"

namespace latchkey::inline v1::detail::etcd {

/// The status codes of gRPC that matter here. A server may send any number.
enum class GrpcStatus : int {
  no_answer = -1,  ///< no status: the connection broke or was not made, or a proxy answered
  ok = 0,
  invalid_argument = 3,
  not_found = 5,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  unimplemented = 12,
  unavailable = 14,
  unauthenticated = 16,
};

/// The end of a call.
struct CallEnd {
  GrpcStatus status = GrpcStatus::no_answer;
  std::string text{};  ///< why it failed, as a clause
  std::string reply{};
  bool sent = true;              ///< false: it never reached etcd, and never will
  bool nothing_listens = false;  ///< the system refused the connection

  [[nodiscard]] bool ok() const noexcept { return status == GrpcStatus::ok; }
};

using OnEnd = std::function<void(CallEnd&&)>;
using OnMessage = std::function<void(std::string_view)>;

/// Each message has a prefix: whether it is compressed, and its length.
[[nodiscard]] std::string with_prefix(std::string_view message);
/// The length of the first message, without its prefix; 0: the prefix has not arrived.
[[nodiscard]] std::size_t size_of_message(std::string_view received) noexcept;
/// A message that has arrived as a whole leaves the buffer; false: there is none.
bool take_message(std::string& received, std::string& message);
/// The text of a grpc-message header.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace latchkey::inline v1::detail::etcd
