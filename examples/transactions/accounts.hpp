// Accounts in PostgreSQL, and three ways to change one without losing an update.
#pragma once

#include <latchkey/latchkey.hpp>
#include <latchkey/postgresql/transaction_lock.hpp>

#include <string>

#include "database.hpp"
#include "in_transaction.hpp"

using latchkey::LockType;

class Accounts {
 public:
  /// One connection serves one thread at a time.
  explicit Accounts(Database& db) : db_(db) {}

  static void create(Database& db) {
    db.run("SET client_min_messages = warning");  // not that it exists
    db.run("CREATE TABLE IF NOT EXISTS account (id text PRIMARY KEY, cents bigint NOT NULL)");
  }

  // (a) The row is there, and the database is all that changes.
  long deposit_with_row_lock(const std::string& id, long cents) {
    return in_transaction(db_) AROUND(id, cents) {
      const long before =
          number(db_.run("SELECT cents FROM account WHERE id = $1 FOR UPDATE", {id}));
      return write(id, before + cents);
    };
  }

  // (b) Perhaps there is no row yet, or there are many, and the database is all that changes.
  long deposit_with_transaction_lock(const std::string& id, long cents) {
    return in_transaction(db_) AROUND(id, cents) {
      latchkey::postgresql::transaction_lock(db_.connection(), "account:" + id);
      return write(id, read(id) + cents);
    };
  }

  // (c) Something else changes as well: a file, a queue, another service.
  long deposit_with_lock(const std::string& id, long cents) {
    return LOCKED("account:{id}", LockType::WRITE) | in_transaction(db_) AROUND(id, cents) {
      return write(id, read(id) + cents);
    };
  }

  long read(const std::string& id) {
    return number(db_.run("SELECT cents FROM account WHERE id = $1", {id}));
  }

  /// The new sum.
  long write(const std::string& id, long cents) {
    return number(
        db_.run("INSERT INTO account VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET cents = $2 "
                "RETURNING cents",
                {id, std::to_string(cents)}));
  }

 private:
  static long number(const std::string& cell) { return cell.empty() ? 0 : std::stol(cell); }

  Database& db_;
};
