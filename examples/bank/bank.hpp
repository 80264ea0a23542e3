// The bank's service with macros: LOCKED around each body.
#pragma once

#include <latchkey/latchkey.hpp>

#include <chrono>

#include "accounts.hpp"
#include "ledger.hpp"
#include "stopwatch.hpp"

using namespace std::chrono_literals;
using demo::Account;
using demo::Money;
using latchkey::LockType;

/// The service. Each method declares its lock, then works as if it were alone. The key is made from
/// the account argument, so clerks block each other only if they serve the same account. A writer
/// has exclusive access to the account, readers share it. `timed_` is an aspect that this program
/// defines. AnnotatedBank has the same methods with annotations of C++26.
class Bank {
 public:
  explicit Bank(demo::Ledger& ledger, demo::Stopwatch& stopwatch = demo::stopwatch)
      : ledger_(ledger), timed_(stopwatch) {}

  Money deposit(const Account& account, Money amount) {
    return timed_ | LOCKED("account:{account.id}", LockType::WRITE, 3s) AROUND(account, amount) {
      return ledger_.add(account.id, amount);
    };
  }

  bool withdraw(const Account& account, Money amount) {
    return timed_ | LOCKED("account:{account.id}", LockType::WRITE, 3s) AROUND(account, amount) {
      if (ledger_.sum(account.id) < amount) return false;
      ledger_.add(account.id, -amount);
      return true;
    };
  }

  /// Locks both accounts at once, or neither. Another clerk may move money in the opposite
  /// direction at the same time: all callers acquire the two locks in the same order, so there is
  /// no deadlock.
  bool transfer(const Account& from, const Account& to, Money amount) {
    return timed_ | LOCKED(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 3s)
                        AROUND(from, to, amount) {
      if (ledger_.sum(from.id) < amount) return false;
      ledger_.add(from.id, -amount);
      ledger_.add(to.id, amount);
      return true;
    };
  }

  Money balance(const Account& account) const {
    return timed_ | LOCKED("account:{account.id}", LockType::READ, 3s) AROUND(account) {
      return ledger_.sum(account.id);
    };
  }

  /// Two auditors at most work at once: "auditors" is a semaphore.
  bool audit(const Account& account) const {
    return timed_ | LOCKED("auditors").permits(2) |
           LOCKED("account:{account.id}", LockType::READ, 3s) AROUND(account) {
      return ledger_.adds_up(account.id);
    };
  }

 private:
  demo::Ledger& ledger_;
  demo::Stopwatch& timed_;
};
