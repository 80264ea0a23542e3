// LOCK_ANNOTATED and AROUND_ANNOTATED: a word in the body binds the annotations of its function.
#include <latchkey/annotations.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/testing/scoped_locks.hpp>

namespace annotated_test {

using namespace std::chrono_literals;
using latchkey::Hold;
using latchkey::LockType;
using latchkey::strategy::skip;
using latchkey::strategy::skip_with;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;

struct Account {
  long id = 42;
};

std::vector<std::string> trace;

/// An aspect of one's own.
struct Traced : latchkey::Aspect {
  int level;

  constexpr explicit Traced(int number) : level(number) {}
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) const {
    trace.push_back(std::to_string(level) + " " + std::string(point.name()));
    return proceed();
  }
};

/// The key that the innermost call of this thread holds.
std::string held_key() {
  const Hold* const hold = latchkey::current_hold();
  return hold == nullptr ? "" : std::string(hold->key());
}

class Base {
 public:
  virtual ~Base() = default;
  [[= latchkey::locked("base:{id}")]] virtual std::string of_base(long id) = 0;
  [[= latchkey::locked("virtual:{id}")]] virtual std::string of_virtual(long id) {
    LOCK_ANNOTATED;
    return held_key();
  }
};

class Bank : public Base {
 public:
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s)]] std::string deposit(
      const Account& account, long amount) {
    LOCK_ANNOTATED;
    sum += amount;
    return held_key();
  }
  [[= latchkey::locked("account:{account.id}", LockType::READ)]] std::string balance(
      const Account& account) const noexcept(false) {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked("static:{id}")]] static std::string of_class(long id) {
    LOCK_ANNOTATED;
    return held_key();
  }
  // The annotation stands on the base's function.
  std::string of_base(long renamed) override {
    LOCK_ANNOTATED;
    return held_key() + " " + std::to_string(renamed);
  }
  [[= latchkey::locked("own:{id}")]] std::string of_virtual_own(long id) {
    return hidden(id) + " " + held_key();
  }
  template <class T>
    requires(sizeof(T) > 1)
  [[= latchkey::locked("template:{value}")]] std::string of_template(T&& value) {
    LOCK_ANNOTATED;
    return held_key();
  }
  template <class... T>
  [[= latchkey::locked("pack:{first}")]] std::string of_pack(long first, T... more) {
    LOCK_ANNOTATED;
    return held_key() + "+" + std::to_string(sizeof...(more));
  }
  [[= latchkey::locked("operator:{id}")]] std::string operator()(long id) {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked("index:{id}")]] std::string operator[](long id) {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked("conversion")]] explicit operator std::string() {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked("explicit:{self.sum}")]] std::string of_object(this Bank& self) {
    LOCK_ANNOTATED;
    return held_key() + (self.sum == 0 ? "" : "!");
  }
  [[= latchkey::locked("moved:{text}")]] std::string of_unique(std::unique_ptr<int> moved,
                                                               const std::string& text) {
    LOCK_ANNOTATED;
    return held_key() + " " + std::to_string(*moved);
  }
  [[= latchkey::locked("unnamed:{1}")]] std::string of_unnamed(int, long) {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked("split:{id}")]] std::string of_split(long id);
  [[= latchkey::locked("quiet").no_throw()]] std::optional<std::string> of_noexcept() noexcept {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked("result")]] int& of_reference() {
    LOCK_ANNOTATED;
    return number;
  }
  long sum = 0;
  int number = 0;

 private:
  [[= latchkey::locked("private:{id}")]] std::string hidden(long id) {
    LOCK_ANNOTATED;
    return held_key();
  }
};

std::string Bank::of_split(long id) {
  LOCK_ANNOTATED;
  return held_key();
}

[[= latchkey::locked("free:{account.id}")]] std::string of_function(const Account& account) {
  LOCK_ANNOTATED;
  return held_key();
}

TEST(AnnotatedWord, LocksInMembersOfAllKinds) {
  const ScopedLocks locks;
  const Account account;
  Bank bank;
  EXPECT_EQ(bank.deposit(account, 5), "account:42");
  EXPECT_EQ(bank.sum, 5);
  EXPECT_EQ(std::as_const(bank).balance(account), "account:42");
  EXPECT_EQ(Bank::of_class(1), "static:1");
  EXPECT_EQ(static_cast<Base&>(bank).of_virtual(3), "virtual:3");
  EXPECT_EQ(bank.of_virtual_own(4), "private:4 ");
  EXPECT_EQ(bank.of_template(5), "template:5");
  EXPECT_EQ(bank.of_template(std::string("rvalue")), "template:rvalue");
  EXPECT_EQ(bank.of_pack(6, 1, "x"), "pack:6+2");
  EXPECT_EQ(bank(7), "operator:7");
  EXPECT_EQ(bank[8], "index:8");
  EXPECT_EQ(static_cast<std::string>(bank), "conversion");
  EXPECT_EQ(bank.of_object(), "explicit:5!");
  EXPECT_EQ(bank.of_unique(std::make_unique<int>(9), "t"), "moved:t 9");
  EXPECT_EQ(bank.of_unnamed(1, 10), "unnamed:10");
  EXPECT_EQ(bank.of_split(11), "split:11");
  EXPECT_EQ(bank.of_noexcept(), "quiet");
  EXPECT_EQ(&bank.of_reference(), &bank.number);
  EXPECT_EQ(of_function(account), "free:42");
  EXPECT_TRUE(held_key().empty());
}

TEST(AnnotatedWord, TakesTheTypeOfTheAnnotation) {
  const ScopedLocks locks;
  Bank bank;
  bank.deposit({7}, 1);
  bank.balance({7});
  EXPECT_EQ(locks.taken(),
            (std::vector<Taken>{{"account:7", LockType::WRITE}, {"account:7", LockType::READ}}));
}

TEST(AnnotatedWord, FindsTheAnnotationOfTheOverriddenFunction) {
  const ScopedLocks locks;
  Bank bank;
  EXPECT_EQ(static_cast<Base&>(bank).of_base(3), "base:3 3");
}

TEST(AnnotatedWord, LocksInALambda) {
  const ScopedLocks locks;
  const auto lambda = [][[= latchkey::locked("lambda:{id}")]](long id) -> std::string {
    LOCK_ANNOTATED;
    return held_key();
  };
  EXPECT_EQ(lambda(1), "lambda:1");
}

class Shape {
 public:
  virtual ~Shape() = default;
  [[= latchkey::locked("shape:{id}")]] virtual const Shape& look(long id) {
    LOCK_ANNOTATED;
    return id > 0 ? *this : throw std::invalid_argument("id");
  }
};
class Circle final : public Shape {
 public:
  const Circle& look(long id) override {
    LOCK_ANNOTATED;
    return id > 1 ? *this : throw std::invalid_argument("id");
  }
};

// An override with a result of its own has a site of its own.
TEST(AnnotatedWord, OfAnOverrideWithAnotherResultHasASiteInTheList) {
  const ScopedLocks locks;
  Shape shape;
  Circle circle;
  EXPECT_EQ(&shape.look(1), &shape);
  EXPECT_EQ(&circle.look(2), &circle);
  EXPECT_EQ(locks.taken().size(), 2U);
  std::size_t sites = 0;
  for (const latchkey::Site& site : latchkey::sites()) {
    if (site.method() == "annotated_test::Shape::look") ++sites;
  }
  EXPECT_EQ(sites, 2U);
}

TEST(AnnotatedWord, HasTheSiteOfItsFunction) {
  bool found = false;
  for (const latchkey::Site& site : latchkey::sites()) {
    if (site.name() != "annotated_test::Bank::deposit") continue;
    found = true;
    EXPECT_EQ(site.method(), "annotated_test::Bank::deposit");
    EXPECT_TRUE(site.file().ends_with("word_test.cpp"));
    EXPECT_GT(site.line(), 50U);
    ASSERT_EQ(site.argument_count(), 2U);
    EXPECT_EQ(site.argument_name(0), "account");
    EXPECT_EQ(site.argument_name(1), "amount");
    EXPECT_EQ(site.argument_type(1), "long");
    ASSERT_NE(site.notes(), nullptr);
    EXPECT_EQ(site.notes()->kind, "LOCKED");
    EXPECT_EQ(site.notes()->text, "account:{account.id}");
  }
  EXPECT_TRUE(found);
}

struct Composed {
  [[ = Traced(1), = latchkey::locked("composed:{id}"), = Traced(2) ]] std::string run(long id) {
    AROUND_ANNOTATED { return held_key(); };
  }
  [[= latchkey::locked("alone")]] int& reference() {
    AROUND_ANNOTATED { return value; };
  }
  [[= latchkey::once_per("once:{id}", 24h, {.offset = 3h})]] bool* once(int id) {
    AROUND_ANNOTATED {
      ++value;
      static bool done = true;
      return id > 0 ? &done : nullptr;
    };
  }
  int value = 0;
};

TEST(AnnotatedWord, AppliesAspectsInTheOrderInWhichTheyAreWritten) {
  const ScopedLocks locks;
  trace.clear();
  EXPECT_EQ(Composed().run(5), "composed:5");
  EXPECT_EQ(trace, (std::vector<std::string>{"1 annotated_test::Composed::run",
                                             "2 annotated_test::Composed::run"}));
}

TEST(AnnotatedWord, AroundReturnsAReference) {
  const ScopedLocks locks;
  Composed object;
  EXPECT_EQ(&object.reference(), &object.value);
}

TEST(AnnotatedWord, RunsOncePerInstant) {
  const ScopedLocks locks;
  Composed object;
  EXPECT_NE(object.once(1), nullptr);
  EXPECT_EQ(object.once(1), nullptr);
  EXPECT_EQ(object.value, 1);
  EXPECT_NE(object.once(2), nullptr);
}

}  // namespace annotated_test
