// DECORATED: every shape of method that its grammar allows.
#include <latchkey/decorate.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <latchkey/locks.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace {

using latchkey::Aspect;
using latchkey::JoinPoint;

/// Records the method that it was called for.
struct Noted : Aspect {
  explicit Noted(std::vector<std::string>& places) : list(&places) {}

  template <class Proceed>
  decltype(auto) around(JoinPoint& point, Proceed&& proceed) const {
    std::string place(point.name());
    for (std::size_t i = 0; i < point.argument_count(); ++i) {
      place += ' ' + std::string(point.argument_name(i));
    }
    list->push_back(std::move(place));
    return proceed();
  }

  std::vector<std::string>* list;
};

std::vector<std::string> places;

struct KeyOnly {
  // The body leaves `account` to the key, and compiles without a warning.
  DECORATED(Noted(places), int, always_one, (int) account) { return 1; }
};

struct Shape {
  virtual ~Shape() = default;
  DECORATED(Noted(places), (virtual int), area, (const)) { return 0; }
  virtual std::string name(int) const = 0;
};

struct Square : Shape {
  DECORATED(Noted(places), int, area, (const, override)) { return side * side; }
  DECORATED(Noted(places), std::string, name, (const, override), (int) copies) {
    return std::string(static_cast<std::size_t>(copies), 'q');
  }
  int side = 3;
};

class Everything {
 public:
  DECORATED(Noted(places), int, plain) { return 1; }
  DECORATED(Noted(places), void, nothing, (int&) counter) { ++counter; }
  DECORATED(Noted(places), (static int), alone, (int) a, (int) b) { return a + b; }
  DECORATED(Noted(places), (template <class T> T), twice, (T) value) { return value + value; }
  DECORATED(Noted(places), (template <class T, class U> std::pair<T, U>), pair, (T) first,
            (U) second) {
    return {first, second};
  }
  DECORATED(Noted(places), (std::map<int, std::string>), map, (const),
            (const std::map<int, std::string>&) given) {
    return given;
  }
  DECORATED(Noted(places), const std::string&, text, (const)) { return text_; }
  DECORATED(Noted(places), std::string&, text) { return text_; }
  DECORATED(Noted(places), std::unique_ptr<int>, pass, (std::unique_ptr<int>) given) {
    ++*given;
    return given;
  }
  DECORATED(Noted(places), std::unique_ptr<int>, take, (std::unique_ptr<int>&&) given) {
    return std::move(given);
  }
  DECORATED(Noted(places), int, overloaded, (int) value) { return value; }
  DECORATED(Noted(places), std::string, overloaded, (const std::string&) value) { return value; }
  DECORATED(Noted(places), ([[nodiscard]] int), careful, (const, noexcept)) { return 7; }
  DECORATED((Noted(places) | Noted(places)), int, both) { return 2; }
  DECORATED(Noted(places), int, sixteen, (const), (int) a, (int) b, (int) c, (int) d, (int) e,
            (int) f, (int) g, (int) h, (int) i, (int) j, (int) k, (int) l, (int) m, (int) n,
            (int) o, (int) p) {
    return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p;
  }
  DECORATED(Noted(places), int, failing, (int) value) {
    if (value < 0) throw std::invalid_argument("negative");
    return value;
  }

 private:
  std::string text_ = "text";
};

template <class T>
struct Box {
  DECORATED(Noted(places), const T&, get, (const)) { return content; }
  T content{};
};

class Decorated : public ::testing::Test {
 protected:
  void SetUp() override { places.clear(); }
  Everything all_;
};

TEST_F(Decorated, RunsTheBodyUnderTheAspect) {
  EXPECT_EQ(all_.plain(), 1);
  int counter = 0;
  all_.nothing(counter);
  EXPECT_EQ(counter, 1);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_TRUE(places[0].ends_with("Everything::plain")) << places[0];
  EXPECT_TRUE(places[1].ends_with("Everything::nothing counter")) << places[1];
}

TEST_F(Decorated, KeepsStaticTemplateAndOverloads) {
  EXPECT_EQ(Everything::alone(2, 3), 5);
  EXPECT_EQ(all_.twice(std::string("ab")), "abab");
  EXPECT_EQ(all_.twice(4), 8);
  EXPECT_EQ(all_.pair(1, 'c').second, 'c');
  EXPECT_EQ(all_.overloaded(5), 5);
  EXPECT_EQ(all_.overloaded("five"), "five");
  EXPECT_EQ(Box<int>{3}.get(), 3);
}

TEST_F(Decorated, GivesTheBodysResultExactly) {
  static_assert(std::is_same_v<decltype(all_.text()), std::string&>);
  static_assert(std::is_same_v<decltype(std::as_const(all_).text()), const std::string&>);
  EXPECT_EQ(&all_.text(), &std::as_const(all_).text());
  EXPECT_EQ(all_.map({{1, "one"}}).at(1), "one");
}

TEST_F(Decorated, MovesArgumentsAndResults) {
  EXPECT_EQ(*all_.pass(std::make_unique<int>(1)), 2);
  EXPECT_EQ(*all_.take(std::make_unique<int>(1)), 1);
}

TEST_F(Decorated, OverridesAndIsOverridden) {
  const Square square;
  const Shape& shape = square;
  EXPECT_EQ(shape.area(), 9);
  EXPECT_EQ(shape.name(2), "qq");
  EXPECT_EQ(shape.Shape::area(), 0) << "the body of the base is not that of the derived class";
}

TEST_F(Decorated, KeepsNoexceptAndTheBodysException) {
  static_assert(noexcept(std::as_const(all_).careful()));
  static_assert(!noexcept(all_.plain()));
  EXPECT_EQ(all_.careful(), 7);
  EXPECT_THROW(all_.failing(-1), std::invalid_argument);
}

TEST_F(Decorated, TakesCompositionsAndSixteenArguments) {
  EXPECT_EQ(all_.both(), 2);
  EXPECT_EQ(places.size(), 2u);
  EXPECT_EQ(all_.sixteen(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 16);
  EXPECT_TRUE(places[2].ends_with("sixteen a b c d e f g h i j k l m n o p")) << places[2];
}

TEST(Around, TakesALambdaWithoutCapturesAmongItsArguments) {
  const latchkey::testing::ScopedLocks scope(latchkey::Locks::connect("memory:"));
  const auto twice = [](int number) { return 2 * number; };
  const auto same = [](auto number) { return number; };
  int (*const pointer)(int) = twice;
  const int id = 4;
  const int sum = LOCKED("lambda:{id}") AROUND(id, twice, same, pointer) {
    return twice(id) + same(id) + pointer(id);
  };
  EXPECT_EQ(sum, 20);
}

}  // namespace
