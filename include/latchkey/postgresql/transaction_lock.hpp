// Locks of the caller's own transaction in PostgreSQL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <string_view>

#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

// As libpq-fe.h declares it, which this header does without.
struct pg_conn;
using PGconn = pg_conn;

#pragma GCC visibility push(default)
namespace latchkey::inline v1::postgresql {

/// Locks `key` until the transaction that is open on `connection` ends. The server releases the
/// lock after the commit is visible to others, or with the rollback, or when the connection breaks:
/// there is no lease, no deadline and no fencing token, and no call that releases it earlier. Call
/// it before the first statement that reads what the lock protects.
///
///     latchkey::postgresql::transaction_lock(connection, "account:42");  // after BEGIN
///
/// **Types.** READ is shared. WRITE and REENTRANT are exclusive, and mean the same here: a
/// transaction may take a key that it holds again, at once. A transaction with the READ of a key
/// that asks for its WRITE waits until the other readers have ended; if two do so, the server ends
/// one of them as a deadlock.
///
/// **What it excludes.** Transaction locks of the same key in the same database, whichever
/// connection, process or role takes them: any number of READs, or one exclusive lock. It does not
/// exclude the holders of `postgresql://` locks of that key, nor they it: their locks are rows with
/// a lease, which this one neither reads nor makes wait. `Options::prefix` is not put before the
/// key. Keys are hashed to 64 bits, so that two keys exclude each other by accident once in 2^64
/// pairs.
///
/// **Waiting.** The server queues the transactions that wait, and ends deadlocks, also those in
/// which row locks take part. While the call waits, `lock_timeout` of the session is the wait; it
/// is restored afterwards. A wait of more than 24 days counts as 24 days; `forever` does not end by
/// itself. The wait is inside a savepoint: after LockTimeout the transaction goes on as if the call
/// had not been made. After every other error of this function roll back: the server may have
/// aborted the transaction.
///
/// **Poolers.** The lock ends with the transaction, so it is safe behind a pooler in transaction
/// mode, such as pgbouncer. Nothing has to be created in the database, and the role needs no
/// privilege.
///
/// Throws:
///  * LockTimeout: others held the lock for the whole wait.
///  * KeyError: the key is empty or has more than 1024 bytes.
///  * BackendRefused: the key is not UTF-8 without NUL; no transaction is open, so the lock would
///    end at once; the transaction has failed; it is REPEATABLE READ or SERIALIZABLE, whose
///    snapshot is older than the lock, so that it would not see what the last holder has committed;
///    the server is a replica, where the lock excludes nobody on the primary; or the server rejects
///    the statement.
///  * BackendUnavailable: the connection is broken, or the server has ended the statement: a
///    deadlock, a cancelled statement, `statement_timeout`.
///  * std::invalid_argument: `connection` is null, or the type is FAIR, FENCED or PERMIT.
///
/// Blocks the calling thread in libpq; a server that stops answering is noticed as libpq and the
/// connection's options decide. Not thread-safe for one connection, as libpq is not.
///
/// Not promised: that the lock outlives a savepoint that was set before it: ROLLBACK TO SAVEPOINT
/// releases what was locked since. That a transaction with `synchronous_commit = off`, or one whose
/// server fails over to an asynchronous replica, is still there afterwards: the lock says nothing
/// about durability.
void transaction_lock(PGconn* connection, std::string_view key, LockType type = LockType::REENTRANT,
                      Wait wait = default_wait);

/// As transaction_lock(), but returns false instead of throwing LockTimeout; by default without a
/// wait. After false the transaction goes on as if the call had not been made.
[[nodiscard(
    "latchkey: false says that others hold the lock, and that this transaction does not: if "
    "(latchkey::postgresql::try_transaction_lock(...)) { ... }")]] bool
try_transaction_lock(PGconn* connection, std::string_view key, LockType type = LockType::REENTRANT,
                     Wait wait = std::chrono::milliseconds(0));

}  // namespace latchkey::inline v1::postgresql
#pragma GCC visibility pop
