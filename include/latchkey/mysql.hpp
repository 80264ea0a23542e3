// Locks in MariaDB or MySQL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Makes Locks::connect accept
/// `mysql://[user[:password]@]host[:port]/database[?option=value&...]`:
///
/// | option   | meaning                                                                         |
/// |----------|---------------------------------------------------------------------------------|
/// | create   | `yes`: creates the tables and procedures if they are missing                    |
/// | schema   | `shedlock`: uses ShedLock's table, REENTRANT only                               |
/// | table    | the name of ShedLock's table; `shedlock` by default                             |
/// | poll     | how often a waiter asks at most, such as `20ms`; `10ms` by default              |
/// | socket   | the Unix socket of a server on this machine; the host is then `localhost`       |
/// | tls_ca   | a file with the authorities' certificates: TLS, and the server's name must fit  |
/// | tls_cert | a file with the client's certificate                                            |
/// | tls_key  | a file with its key, unless it is in that of tls_cert                           |
///
/// User, password, database and values are percent-decoded. Offers all lock types; there are no
/// notifications: waiters poll. `latchkey ddl mysql` prints the tables. See
/// docs/stores/mysql.md. Idempotent; throws std::bad_alloc.
/// Thread-safe.
void register_mysql();

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
