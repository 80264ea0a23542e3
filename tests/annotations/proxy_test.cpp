// Annotated<T>: member functions run under their annotations, and their bodies say nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <latchkey/annotations.hpp>
#include <latchkey/asio.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace proxy_test {

using latchkey::Annotated;
using latchkey::LockType;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;

struct Account {
  long id = 42;
};

std::string held_key() {
  const latchkey::Hold* const hold = latchkey::current_hold();
  return hold == nullptr ? "" : std::string(hold->key());
}

class Base {
 public:
  [[= latchkey::locked("inherited:{id}")]] std::string inherited(long id) { return held_key(); }
  std::string hidden() { return "base"; }
};

class Bank : public Base {
 public:
  Bank() = default;
  explicit Bank(long start) : sum(start) {}
  Bank(const Bank&) = delete;

  [[= latchkey::locked("account:{account.id}", LockType::WRITE)]] std::string deposit(
      const Account& account, long amount) {
    sum += amount;
    return held_key();
  }
  [[= latchkey::locked("account:{account.id}", LockType::READ)]] std::string balance(
      const Account& account) const {
    return held_key();
  }
  // Overloads by type, by number, and by const.
  [[= latchkey::locked("int:{value}")]] std::string overloaded(int value) { return held_key(); }
  [[= latchkey::locked("text:{value}")]] std::string overloaded(const std::string& value) {
    return held_key();
  }
  std::string overloaded(int, int) { return held_key() + "two"; }
  [[= latchkey::locked("mutable")]] std::string accessor() { return held_key(); }
  [[= latchkey::locked("const")]] std::string accessor() const { return held_key(); }
  [[= latchkey::locked("default:{first}")]] std::string defaulted(int first, int second = 7,
                                                                  std::string_view third = "x") {
    return held_key() + ":" + std::to_string(second) + std::string(third);
  }
  [[= latchkey::locked("moved")]] int moved(std::unique_ptr<int> value) { return *value; }
  [[= latchkey::locked("reference")]] long& reference() { return sum; }
  [[= latchkey::locked("static:{id}")]] static std::string of_class(long id) { return held_key(); }
  [[= latchkey::locked("word:{id}")]] std::string with_word(long id) {
    LOCK_ANNOTATED;
    return held_key();
  }
  std::string plain() const noexcept { return "plain"; }
  std::string hidden() { return "derived"; }
  void operator++() {}
  template <class T>
  T a_template(T value) {
    return value;
  }
  boost::asio::awaitable<std::string> unlocked_coroutine(Account account) {
    co_return std::to_string(account.id);
  }
  [[= latchkey::locked("coroutine:{account.id}")]] boost::asio::awaitable<long> coroutine(
      Account account, long amount) {
    sum += amount;
    co_return account.id + amount;
  }

  long sum = 0;
};

TEST(AnnotatedProxy, LocksAroundBodiesThatSayNothing) {
  const ScopedLocks locks;
  Annotated<Bank> bank;
  EXPECT_EQ(bank->deposit(Account{7}, 5), "account:7");
  EXPECT_EQ(std::as_const(bank)->balance(Account{8}), "account:8");
  EXPECT_EQ(bank.bare().sum, 5);
  EXPECT_EQ(locks.taken(),
            (std::vector<Taken>{{"account:7", LockType::WRITE}, {"account:8", LockType::READ}}));
  EXPECT_EQ(bank.bare().deposit(Account{7}, 5), "");
}

TEST(AnnotatedProxy, HasOverloadsDefaultsAndInheritedFunctions) {
  const ScopedLocks locks;
  Annotated<Bank> bank(3L);
  const Annotated<Bank>& constant = bank;
  EXPECT_EQ(bank->overloaded(1), "int:1");
  EXPECT_EQ(bank->overloaded(std::string("t")), "text:t");
  EXPECT_EQ(bank->overloaded(1, 2), "two");
  EXPECT_EQ(bank->accessor(), "mutable");
  EXPECT_EQ(constant->accessor(), "const");
  EXPECT_EQ(bank->defaulted(1), "default:1:7x");
  EXPECT_EQ(bank->defaulted(2, 3), "default:2:3x");
  EXPECT_EQ(bank->defaulted(3, 4, "y"), "default:3:4y");
  EXPECT_EQ(bank->moved(std::make_unique<int>(9)), 9);
  EXPECT_EQ(&bank->reference(), &bank.bare().sum);
  EXPECT_EQ(bank->of_class(4), "static:4");
  EXPECT_EQ(bank->plain(), "plain");
  static_assert(noexcept(bank->plain()));
  EXPECT_EQ(bank->inherited(5), "inherited:5");
  EXPECT_EQ(bank->hidden(), "derived");
}

TEST(AnnotatedProxy, LocksOnceIfTheBodyHasTheWord) {
  const ScopedLocks locks;
  Annotated<Bank> bank;
  EXPECT_EQ(bank->with_word(6), "word:6");
  EXPECT_EQ(locks.taken(), (std::vector<Taken>{{"word:6", LockType::REENTRANT}}));
  std::size_t sites = 0;
  for (const latchkey::Site& site : latchkey::sites()) {
    if (site.method() == "proxy_test::Bank::with_word") ++sites;
  }
  EXPECT_EQ(sites, 1U);
}

template <class Surface>
concept HasBalance = requires(Surface& surface) { surface->balance(Account{}); };
template <class Surface>
concept HasDeposit = requires(Surface& surface) { surface->deposit(Account{}, 1L); };

TEST(AnnotatedProxy, HandsOutNoBareObjectByAccident) {
  static_assert(HasBalance<const Annotated<Bank>>);
  static_assert(!HasDeposit<const Annotated<Bank>>);
  static_assert(!std::is_convertible_v<Annotated<Bank>&, Bank&>);
  static_assert(!std::is_convertible_v<Annotated<Bank>&, const Bank&>);
  static_assert(!std::is_convertible_v<Annotated<Bank>&, Bank*>);
  static_assert(!std::is_copy_constructible_v<Annotated<Bank>>);
}

class Store {
 public:
  virtual ~Store() = default;
  [[= latchkey::locked("store:{id}")]] virtual std::string load(long id) = 0;
};
class FileStore : public Store {
 public:
  std::string load(long id) override { return held_key() + " " + std::to_string(id); }
};
class WordStore : public Store {
 public:
  std::string load(long id) override {
    if (id < 0) return load(-id);  // before its word
    LOCK_ANNOTATED;
    return held_key() + (id == 7 ? "," + load(8) : "");
  }
};
class MockStore : public Store {
 public:
  MOCK_METHOD(std::string, load, (long id), (override));
};

TEST(AnnotatedProxy, IsMadeAroundReferencesAndPointers) {
  const ScopedLocks locks;
  FileStore file;
  Annotated<Store> by_reference(std::reference_wrapper<Store>{file});
  EXPECT_EQ(by_reference->load(1), "store:1 1");
  EXPECT_EQ(&by_reference.bare(), &file);
  Annotated<Store> by_unique(std::make_unique<FileStore>());
  EXPECT_EQ(by_unique->load(2), "store:2 2");
  Annotated<Store> by_shared(std::make_shared<FileStore>());
  EXPECT_EQ(by_shared->load(3), "store:3 3");
  EXPECT_THROW(Annotated<Store>(std::shared_ptr<FileStore>()), std::invalid_argument);
}

TEST(AnnotatedProxy, LocksOnceIfTheOverrideHasTheWord) {
  const ScopedLocks locks;
  Annotated<Store> store(std::make_unique<WordStore>());
  EXPECT_EQ(store->load(6), "store:6");
  EXPECT_EQ(locks.taken(), (std::vector<Taken>{{"store:6", LockType::REENTRANT}}));
  locks.forget();
  EXPECT_EQ(store->load(7), "store:7,store:8");
  EXPECT_EQ(locks.taken(), (std::vector<Taken>{{"store:7", LockType::REENTRANT},
                                               {"store:8", LockType::REENTRANT}}));
}

TEST(AnnotatedProxy, LocksTheKeyOfACallThatTheBodyMakesBeforeItsWord) {
  const ScopedLocks locks;
  Annotated<Store> store(std::make_unique<WordStore>());
  EXPECT_EQ(store->load(-5), "store:5");
  EXPECT_EQ(locks.taken(), (std::vector<Taken>{{"store:-5", LockType::REENTRANT},
                                               {"store:5", LockType::REENTRANT}}));
}

TEST(AnnotatedProxy, LocksAroundAMock) {
  const ScopedLocks locks;
  MockStore mock;
  EXPECT_CALL(mock, load(4)).WillOnce([](long) { return held_key(); });
  Annotated<Store> proxy(std::reference_wrapper<Store>{mock});
  EXPECT_EQ(proxy->load(4), "store:4");
}

TEST(AnnotatedProxy, LocksACoroutineUntilItHasRun) {
  const ScopedLocks locks;
  Annotated<Bank> bank;
  boost::asio::io_context context;
  auto result =
      boost::asio::co_spawn(context, bank->coroutine(Account{40}, 2), boost::asio::use_future);
  auto other =
      boost::asio::co_spawn(context, bank->unlocked_coroutine(Account{1}), boost::asio::use_future);
  context.run();
  EXPECT_EQ(result.get(), 42);
  EXPECT_EQ(other.get(), "1");
  EXPECT_EQ(bank.bare().sum, 2);
  EXPECT_EQ(locks.taken(), (std::vector<Taken>{{"coroutine:40", LockType::REENTRANT}}));
}

}  // namespace proxy_test
