// Locks in a PostgreSQL database.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Makes `Locks::connect` accept
/// `postgresql://[user[:password]@]host[:port][,host[:port]...][/database][?options]`. The host may
/// be the folder of a Unix socket: postgresql:///database?host=/run/postgresql.
///
/// | option                                        | effect                                     |
/// |-----------------------------------------------|--------------------------------------------|
/// | `create=yes`                                  | creates latchkey's tables if they are      |
/// |                                               | missing                                    |
/// | `schema=shedlock`                             | uses ShedLock's table: REENTRANT only      |
/// | `table=name`                                  | its name, with schema=shedlock             |
/// | `pooler=session`                              | there is a pooler, in session mode         |
/// | `tls_ca`, `tls_cert`, `tls_key`               | files; TLS, and the certificate is checked |
/// | `sslmode`, `passfile`, `application_name`, …  | as libpq defines them                      |
///
/// Call it from main or from a function that main calls; again: no effect. Throws std::bad_alloc.
/// Thread-safe.
void register_postgresql();

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
