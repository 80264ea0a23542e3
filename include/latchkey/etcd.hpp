// Locks in an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Lets `Locks::connect` use `etcd://[user:password@]host[:2379][,host…][/prefix][?session=45s]`,
/// and `etcds://` with TLS (`tls_ca`, `tls_cert`, `tls_key`). The locks are those of `etcdctl lock`
/// and of Go's concurrency.Mutex; READ and WRITE are those of its recipe.RWMutex. `session` is the
/// time after which a process that is not heard of has lost its locks; no lease may be longer. Call
/// it from main; idempotent. Throws std::bad_alloc.
void register_etcd();

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
