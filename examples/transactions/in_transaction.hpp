// in_transaction: an aspect that runs a body in a transaction, to the right of the lock.
#pragma once

#include <latchkey/latchkey.hpp>

#include <stdexcept>
#include <type_traits>

#include "database.hpp"

/// A transaction that is rolled back unless it is committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db) { db_.run("BEGIN"); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    // A connection that is broken has no transaction any more.
    if (!committed_) ::PQclear(::PQexec(db_.connection(), "ROLLBACK"));
  }

  /// Throws std::runtime_error if nothing was committed, or if nobody knows: the connection broke.
  void commit() {
    db_.run("COMMIT");
    committed_ = true;
    // The server answers the COMMIT of a failed transaction with ROLLBACK, and with no error.
    if (db_.tag() != "COMMIT") throw std::runtime_error("a statement failed: rolled back");
  }

 private:
  Database& db_;
  bool committed_ = false;
};

/// Commits when the body returns, rolls back when it throws.
class InTransaction : public latchkey::Aspect {
 public:
  static constexpr bool belongs_inside_lock = true;

  explicit InTransaction(Database& db) : db_(db) {}

  template <class Proceed>
  auto around(latchkey::JoinPoint&, Proceed&& proceed) const -> decltype(proceed()) {
    Transaction transaction(db_);
    if constexpr (std::is_void_v<decltype(proceed())>) {
      proceed();
      transaction.commit();
    } else {
      decltype(proceed()) result = proceed();
      transaction.commit();
      return result;
    }
  }

 private:
  Database& db_;
};

inline InTransaction in_transaction(Database& db) { return InTransaction(db); }
