// The bank's service with annotations of C++26: one before each method.
#pragma once

#include <latchkey/annotations.hpp>

#include <chrono>
#include <utility>

#include "accounts.hpp"
#include "ledger.hpp"
#include "stopwatch.hpp"

using namespace std::chrono_literals;
using demo::Account;
using demo::Money;
using latchkey::LockType;

/// An aspect as an annotation, which is a constant: it refers to the stopwatch of the program.
struct Timed : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) const {
    return demo::stopwatch.around(point, std::forward<Proceed>(proceed));
  }
};

/// The methods of Bank, which take the same locks.
// clang-format off: as docs/annotations.md has it
class AnnotatedBank {
 public:
  explicit AnnotatedBank(demo::Ledger& ledger) : ledger_(ledger) {}

  [[=Timed{}, =latchkey::locked("account:{account.id}", LockType::WRITE, 3s)]]
  Money deposit(const Account& account, Money amount) {
    AROUND_ANNOTATED {
      return ledger_.add(account.id, amount);
    };
  }

  [[=Timed{}, =latchkey::locked("account:{account.id}", LockType::WRITE, 3s)]]
  bool withdraw(const Account& account, Money amount) {
    AROUND_ANNOTATED {
      if (ledger_.sum(account.id) < amount) return false;
      ledger_.add(account.id, -amount);
      return true;
    };
  }

  [[=Timed{}, =latchkey::locked(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 3s)]]
  bool transfer(const Account& from, const Account& to, Money amount) {
    AROUND_ANNOTATED {
      if (ledger_.sum(from.id) < amount) return false;
      ledger_.add(from.id, -amount);
      ledger_.add(to.id, amount);
      return true;
    };
  }

  [[=Timed{}, =latchkey::locked("account:{account.id}", LockType::READ, 3s)]]
  Money balance(const Account& account) const {
    AROUND_ANNOTATED {
      return ledger_.sum(account.id);
    };
  }

  /// A function has one latchkey::locked: the second lock is that of another function.
  [[=Timed{}, =latchkey::locked("auditors").permits(2)]]
  bool audit(const Account& account) const {
    AROUND_ANNOTATED {
      return adds_up(account);
    };
  }

 private:
  [[=latchkey::locked("account:{account.id}", LockType::READ, 3s)]]
  bool adds_up(const Account& account) const {
    LOCK_ANNOTATED;
    return ledger_.adds_up(account.id);
  }

  demo::Ledger& ledger_;
};
// clang-format on
