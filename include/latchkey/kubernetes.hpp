// Leader election by the Leases of Kubernetes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Lets `Locks::connect` use `k8s://namespace` in a pod, by its service account, and elsewhere
/// `k8s://namespace?server=https://host:6443&token_file=…&tls_ca=…` (also `tls_cert`, `tls_key`,
/// `tls_server_name`). Each lock is a Lease, as for client-go's leader election, which it excludes
/// and is excluded by. It offers REENTRANT and FENCED, for few locks that are held for long, such
/// as those of `Locks::leader`; no queue: whoever writes first is next. A lease is rounded up to
/// whole seconds for the others. Call it from main; idempotent. Throws std::bad_alloc.
void register_kubernetes();

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
