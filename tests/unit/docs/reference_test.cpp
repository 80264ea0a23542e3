// The examples in the comments of the public headers, compiled: they stand here word for word.
#include <latchkey/latchkey.hpp>
#include <latchkey/testing.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cassert>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/detail/name_list.hpp>
#include <latchkey/listeners.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

// clang-format off: the headers' own lines
namespace docs_reference {
struct Finished {
  void operator()() const {}
};
}  // namespace docs_reference

// completes_at_return.hpp
using docs_reference::Finished;
template <>
inline constexpr bool latchkey::completes_at_return<Finished> = true;

// reflect/fields.hpp
namespace wire {
struct Moment {
  int day = 0;
};
class Order {
 public:
  int order_id = 0;
  [[nodiscard]] Moment at() const { return {order_id / 1000}; }
};

constexpr auto latchkey_fields(latchkey::reflect::tag<wire::Order>) {
  using latchkey::reflect::Field;
  return latchkey::reflect::FieldList<Field<"id", &wire::Order::order_id>,
                                      Field<"day", [](const wire::Order& o) { return o.at().day;
                                      }>>{};
}
}  // namespace wire

namespace docs_reference {
namespace {

using latchkey::testing::HoldsLock;
using latchkey::testing::MockBackend;
using latchkey::testing::RequestFor;
using latchkey::testing::Taken;
using ::testing::ElementsAre;
using ::testing::NiceMock;
using ::testing::Not;
using ::testing::Return;

using Money = long;

struct Account {
  int id = 0;
};

struct Ledger {
  [[nodiscard]] Money sum(int account) const { return account; }
};

class Bank {
 public:
  void deposit(const Account& account, Money amount) {
    LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {};
  }
  // decorate/decorated.hpp
  DECORATED(LOCKED("account:{account.id}", LockType::READ, 3s, 30s), Money, balance, (const),
            (const Account&) account) {
    return ledger_.sum(account.id);
  }

 private:
  Ledger ledger_;
};

// testing/scoped_locks.hpp
TEST(Bank, LocksTheAccount) {
  const latchkey::testing::ScopedLocks locks;  // in memory: no server, nothing to install
  Bank().deposit({42}, 10);
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:42", LockType::WRITE}));
}

// testing/scoped_policies.hpp
TEST(Bank, LocksTheAccountAsItsRuleSays) {
  const latchkey::testing::ScopedLocks locks;
  const auto policies = latchkey::testing::ScopedPolicies::from_text(
      "rules: {\"Bank::deposit\": {type: FAIR}}");
  Bank().deposit({42}, 10);
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:42", LockType::FAIR}));
}

TEST(Reference, DecoratedMethod) {
  const latchkey::testing::ScopedLocks locks;
  EXPECT_EQ(Bank().balance({42}), 42);
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:42", LockType::READ}));
}

// aspect.hpp
std::string noted;
void note(std::string_view name) { noted = name; }

struct Noting : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) {
    note(point.name());  // before
    return proceed();    // the body's result, exactly: a reference stays one
  }
};

int noted_call() {
  return Noting() AROUND() { return 7; };
}

TEST(Reference, Aspect) {
  EXPECT_EQ(noted_call(), 7);
  EXPECT_NE(noted.find("noted_call"), std::string::npos);
}

// listeners.hpp
TEST(Reference, Listeners) {
  latchkey::testing::Recorder log;
  latchkey::testing::Recorder metrics;
  const char* uri = "memory:";
  {
    latchkey::Listeners both{&log, &metrics};
    auto locks = latchkey::Locks::connect(uri, {.listener = &both});
    static_cast<void>(locks.lock("a").acquire());
    locks.close(0ms);
  }
  EXPECT_EQ(log.taken().size(), 1U);
  EXPECT_EQ(metrics.taken().size(), 1U);
}

// name_list.hpp
TEST(Reference, NameList) {
  using latchkey::detail::NameList;
  std::vector<std::string> names;
  const auto use = [&](std::string_view name) { names.emplace_back(name); };
  for (NameList list("account, amount"); list.next();) use(list.name());
  EXPECT_EQ(names, (std::vector<std::string>{"account", "amount"}));
}

// testing/manual_clock.hpp
TEST(Reference, ManualClock) {
  latchkey::testing::ManualClock clock;
  auto locks = latchkey::Locks::connect("memory:", {.clock = &clock});
  auto hold = locks.lock("order:42").acquire(latchkey::forever, 10s);
  clock.advance(10s);
  assert(hold.lost());
  EXPECT_TRUE(hold.lost());
}

TEST(Reference, SkippedWaits) {
  latchkey::testing::ManualClock clock;
  const latchkey::testing::ScopedLocks locks({.clock = &clock});
  const latchkey::Hold other = locks.locks()
                                   .with_owner(latchkey::Owner::make())
                                   .lock("account:42", LockType::WRITE)
                                   .acquire(0s, 1h);
  Bank bank;
  const auto skipping = clock.skip_waits();
  EXPECT_THROW(bank.deposit({42}, 10), latchkey::LockTimeout);  // 3 s by the clock
}

// testing/holds_lock.hpp
TEST(Reference, HoldsLock) {
  const latchkey::testing::ScopedLocks locks;
  const latchkey::Locks elsewhere = latchkey::Locks::connect("memory:");
  LOCKED("account:42", LockType::WRITE).in(elsewhere) AROUND() {
    EXPECT_THAT(latchkey::current_hold(), HoldsLock("account:42", LockType::WRITE));
    EXPECT_THAT(locks, Not(HoldsLock("account:42")));
  };
}

// testing/mock_backend.hpp
TEST(Reference, MockBackend) {
  auto backend = std::make_unique<NiceMock<MockBackend>>();
  EXPECT_CALL(*backend, acquire(RequestFor("account:42", LockType::WRITE)))
      .WillOnce(Return(MockBackend::refused("not allowed")));
  const latchkey::testing::ScopedLocks locks(std::move(backend));
  EXPECT_THROW(Bank().deposit({42}, 10), latchkey::BackendRefused);
}

TEST(Reference, FieldsOfAHook) {
  const latchkey::testing::ScopedLocks locks;
  const wire::Order order{42'007};
  LOCKED("order:{order.id}:{order.day}") AROUND(order) {};
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"order:42007:42"}));
  static_assert(latchkey::completes_at_return<Finished>);
}
// clang-format on

}  // namespace
}  // namespace docs_reference
