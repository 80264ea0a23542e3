// Locks in MongoDB: the target latchkey::mongodb.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Makes `Locks::connect` accept
/// `mongodb://[user:password@]host[:port][,host…]/database[?option=value&…]`.
///
/// User and password are percent-encoded. The options are libmongoc's, such as `replicaSet`,
/// `authSource` and `tls`, and these of latchkey's own:
///
/// | option       | meaning                                                                   |
/// |--------------|---------------------------------------------------------------------------|
/// | `collection` | the collection of the locks; by default `latchkey_locks`                  |
/// | `schema`     | `latchkey` (default), or `shedlock`: shares names with ShedLock services; |
/// |              | REENTRANT only, collection `shedLock`                                     |
/// | `tls_ca`     | a file with the authorities' certificates: TLS                            |
/// | `tls_cert`   | a file with the client's certificate and its key: TLS                     |
///
/// Attempts block the thread that waits for them, each command for Options::command_timeout at
/// most. Waiters poll. Call it from main. Idempotent; thread-safe.
void register_mongodb();

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
