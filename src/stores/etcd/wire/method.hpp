// The methods of etcd's gRPC interface that latchkey calls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace latchkey::inline v1::detail::etcd {

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

}  // namespace latchkey::inline v1::detail::etcd
