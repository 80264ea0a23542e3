// One call of etcd's gRPC interface, and how it ends.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail::etcd {

/// The methods that latchkey calls.
enum class Method : std::uint8_t {
  range,
  put,
  delete_range,
  txn,
  grant,
  revoke,
  keep_alive,
  watch,
  authenticate,
  status,
};
inline constexpr std::array<std::string_view, 10> method_paths{"/etcdserverpb.KV/Range",
                                                               "/etcdserverpb.KV/Put",
                                                               "/etcdserverpb.KV/DeleteRange",
                                                               "/etcdserverpb.KV/Txn",
                                                               "/etcdserverpb.Lease/LeaseGrant",
                                                               "/etcdserverpb.Lease/LeaseRevoke",
                                                               "/etcdserverpb.Lease/LeaseKeepAlive",
                                                               "/etcdserverpb.Watch/Watch",
                                                               "/etcdserverpb.Auth/Authenticate",
                                                               "/etcdserverpb.Maintenance/Status"};

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

/// 0: none.
using CallId = std::uint64_t;
using OnEnd = std::function<void(CallEnd&&)>;
using OnMessage = std::function<void(std::string_view)>;

}  // namespace latchkey::inline v1::detail::etcd
