// The snippets of docs/annotations.md and README.md about annotations, beside the macros: both
// forms take the same locks.
#include <latchkey/annotations.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/testing/scoped_locks.hpp>

namespace annotations_docs {

using namespace std::chrono_literals;
using latchkey::LockType;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;

using Money = long;
struct Account {
  long id = 42;
};
struct Receipt {
  Money sum = 0;
};

struct Ledger {
  Receipt add(long, Money amount) {
    sum_ += amount;
    return {sum_};
  }
  Money sum(long) const { return sum_; }

 private:
  Money sum_ = 0;
};

// clang-format off: as the pages have it
namespace macros {

class Bank {
 public:
  Receipt deposit(const Account& account, Money amount) {
    return LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {
      return ledger_.add(account.id, amount);
    };
  }
  Money balance(const Account& account) const {
    return LOCKED("account:{account.id}", LockType::READ) AROUND(account) {
      return ledger_.sum(account.id);
    };
  }
  Receipt transfer(const Account& from, const Account& to, Money amount) {
    return LOCKED(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 3s)
        AROUND(from, to, amount) {
      ledger_.add(from.id, -amount);
      return ledger_.add(to.id, amount);
    };
  }

 private:
  Ledger ledger_;
};

}  // namespace macros

namespace words {

class Bank {
 public:
  [[=latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s)]]
  Receipt deposit(const Account& account, Money amount) {
    LOCK_ANNOTATED;
    return ledger_.add(account.id, amount);
  }
  [[=latchkey::locked("account:{account.id}", LockType::READ)]]
  Money balance(const Account& account) const {
    LOCK_ANNOTATED;
    return ledger_.sum(account.id);
  }
  [[=latchkey::locked(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 3s)]]
  Receipt transfer(const Account& from, const Account& to, Money amount) {
    LOCK_ANNOTATED;
    ledger_.add(from.id, -amount);
    return ledger_.add(to.id, amount);
  }

 private:
  Ledger ledger_;
};

}  // namespace words

namespace proxy {

class Bank {
 public:
  explicit Bank(Ledger& ledger) : ledger_(ledger) {}

  [[=latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s)]]
  Receipt deposit(const Account& account, Money amount) {
    return ledger_.add(account.id, amount);
  }
  [[=latchkey::locked("account:{account.id}", LockType::READ)]]
  Money balance(const Account& account) const {
    return ledger_.sum(account.id);
  }
  [[=latchkey::locked(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 3s)]]
  Receipt transfer(const Account& from, const Account& to, Money amount) {
    ledger_.add(from.id, -amount);
    return ledger_.add(to.id, amount);
  }

 private:
  Ledger& ledger_;
};

class Store {
 public:
  virtual ~Store() = default;
  [[=latchkey::locked("store:{id}")]] virtual int load(long id) = 0;
};
class FileStore : public Store {
 public:
  int load(long id) override { return static_cast<int>(id); }
};

}  // namespace proxy

/// The methods of a bank in either form.
template <class Bank>
void work_with(Bank&& bank) {
  const Account from{1};
  const Account to{2};
  EXPECT_EQ(bank->deposit(from, 10).sum, 10);
  EXPECT_EQ(bank->transfer(from, to, 5).sum, 10);
  EXPECT_EQ(bank->balance(to), 10);
}

const std::vector<Taken> expected{{"account:1", LockType::WRITE},
                                  {"account:1", LockType::WRITE},
                                  {"account:2", LockType::WRITE},
                                  {"account:2", LockType::READ}};

TEST(AnnotationsDocs, TheBankTakesTheSameLocksInAllForms) {
  const ScopedLocks locks;
  work_with(std::make_unique<macros::Bank>());
  EXPECT_EQ(locks.taken(), expected);
  locks.forget();
  work_with(std::make_unique<words::Bank>());
  EXPECT_EQ(locks.taken(), expected);
  locks.forget();
  Ledger ledger;
  latchkey::Annotated<proxy::Bank> bank(ledger);
  work_with(bank);
  EXPECT_EQ(locks.taken(), expected);
}

TEST(AnnotationsDocs, MakesAProxy) {
  using namespace proxy;
  const ScopedLocks locks;
  Ledger ledger;
  Bank other(ledger);
  latchkey::Annotated<Bank> bank(ledger);                            // makes a Bank
  latchkey::Annotated<Bank> same(std::ref(other));                   // refers to one
  latchkey::Annotated<Store> store(std::make_unique<FileStore>());   // takes one over
  EXPECT_EQ(bank->deposit({}, 5).sum, 5);
  EXPECT_EQ(same->balance({}), 5);
  EXPECT_EQ(store->load(3), 3);
}

struct UserVO {
  int id = 7;
  std::string name{};
};

/// The service of the tutorial's Java seed.
class MacroService {
 public:
  int update(const UserVO& userVO) {
    return LOCKED("'updateKey'") AROUND(userVO) { return userVO.id; };
  }
  int write_by_id(const UserVO& userVO) {
    return LOCKED("#userVO.id", LockType::WRITE, 30s) AROUND(userVO) { return userVO.id; };
  }
  int read_by_id(const UserVO& userVO) const {
    return LOCKED("#userVO.id", LockType::READ, 30s) AROUND(userVO) { return userVO.id; };
  }
};
class AnnotatedService {
 public:
  [[=latchkey::locked("'updateKey'")]] int update(const UserVO& userVO) {
    LOCK_ANNOTATED;
    return userVO.id;
  }
  [[=latchkey::locked("#userVO.id", LockType::WRITE, 30s)]] int write_by_id(const UserVO& userVO) {
    LOCK_ANNOTATED;
    return userVO.id;
  }
  [[=latchkey::locked("#userVO.id", LockType::READ, 30s)]] int read_by_id(
      const UserVO& userVO) const {
    LOCK_ANNOTATED;
    return userVO.id;
  }
};

template <class Service>
std::vector<Taken> taken_by() {
  const ScopedLocks locks;
  Service service;
  EXPECT_EQ(service.update({}), 7);
  EXPECT_EQ(service.write_by_id({}), 7);
  EXPECT_EQ(service.read_by_id({}), 7);
  return locks.taken();
}

TEST(AnnotationsDocs, TheLockActionServiceTakesTheSameLocksInBothForms) {
  const std::vector<Taken> macros = taken_by<MacroService>();
  ASSERT_EQ(macros.size(), 3U);
  EXPECT_EQ(macros, taken_by<AnnotatedService>());
}

std::vector<std::string> audit;

struct Audited : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) const {
    audit.emplace_back(point.name());
    return proceed();
  }
};

class Reports {
 public:
  [[=Audited{}, =latchkey::locked("report:{month}")]] std::string of_month(int month) {
    AROUND_ANNOTATED {
      return std::to_string(month);
    };
  }
};

TEST(AnnotationsDocs, AnAspectOfOnesOwn) {
  const ScopedLocks locks;
  EXPECT_EQ(Reports().of_month(5), "5");
  EXPECT_EQ(audit, (std::vector<std::string>{"annotations_docs::Reports::of_month"}));
}

/// The check at start lists it: check_at_start_test.cpp.
class Till {
 public:
  [[=latchkey::locked("till")]] int pay() { return 1; }
};
LATCHKEY_CHECK_ANNOTATIONS(Till);
// clang-format on

}  // namespace annotations_docs
