// Aspects around bodies and callables, and the join points they see.
#include <latchkey/aspect.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/decorated_callable.hpp>

namespace {

using latchkey::Aspect;
using latchkey::JoinPoint;

std::vector<std::string> steps;

struct Step : Aspect {
  explicit Step(std::string text) : name(std::move(text)) {}

  template <class Proceed>
  decltype(auto) around(JoinPoint&, Proceed&& proceed) const {
    steps.push_back(name + " in");
    struct Out {
      const std::string& name;
      ~Out() { steps.push_back(name + " out"); }
    } out{name};
    return proceed();
  }

  std::string name;
};

/// An aspect with state. It is composed by reference if it is an lvalue.
struct Counter : Aspect {
  template <class Proceed>
  decltype(auto) around(JoinPoint&, Proceed&& proceed) {
    ++calls;
    return proceed();
  }
  int calls = 0;
};

/// Does not let the body run.
struct Instead : Aspect {
  template <class Proceed>
  int around(JoinPoint&, Proceed&&) const {
    return -1;
  }
};

/// Calls a function with the join point.
struct Observer : Aspect {
  explicit Observer(std::function<void(JoinPoint&)> see) : look(std::move(see)) {}
  template <class Proceed>
  decltype(auto) around(JoinPoint& point, Proceed&& proceed) const {
    look(point);
    return proceed();
  }
  std::function<void(JoinPoint&)> look;
};

struct Immovable {
  explicit Immovable(int number) : value(number) {}
  Immovable(const Immovable&) = delete;
  Immovable& operator=(const Immovable&) = delete;
  int value;
};

struct Service {
  int composed(int value) {
    return Step("a") | Step("b") | Step("c") AROUND(value) { return value + 1; };
  }
  std::string& reference() {
    return Step("r") AROUND()->std::string& { return text; };
  }
  const std::string& const_reference() const {
    return Step("r") AROUND()->const std::string& { return text; };
  }
  std::unique_ptr<int> moved(std::unique_ptr<int> given) {
    return Step("m") AROUND(given) { return std::move(given); };
  }
  Immovable immovable() {
    return Step("i") AROUND()->Immovable { return Immovable(4); };
  }
  void nested(int depth) {
    Step("outer") AROUND(depth) {
      Step("inner") AROUND(depth) { steps.push_back("body " + std::to_string(depth)); };
    };
  }
  int counted() {
    return counter | Step("s") AROUND() { return 1; };
  }
  template <class T>
  T instance(T value) {
    return Step("t") AROUND(value) { return value; };
  }

  std::string text = "text";
  Counter counter;
};

class Aspects : public ::testing::Test {
 protected:
  void SetUp() override { steps.clear(); }
  Service service_;
};

TEST_F(Aspects, ComposeOutermostFirst) {
  EXPECT_EQ(service_.composed(1), 2);
  EXPECT_EQ(steps, (std::vector<std::string>{"a in", "b in", "c in", "c out", "b out", "a out"}));
}

TEST_F(Aspects, GiveTheBodysResultExactly) {
  EXPECT_EQ(&service_.reference(), &service_.text);
  EXPECT_EQ(&service_.const_reference(), &service_.text);
  EXPECT_EQ(*service_.moved(std::make_unique<int>(3)), 3);
  EXPECT_EQ(service_.immovable().value, 4);
  EXPECT_EQ(service_.instance(2), 2);
  EXPECT_EQ(service_.instance(std::string("x")), "x");
}

TEST_F(Aspects, Nest) {
  service_.nested(7);
  EXPECT_EQ(steps,
            (std::vector<std::string>{"outer in", "inner in", "body 7", "inner out", "outer out"}));
}

TEST_F(Aspects, AreNotCopiedIfTheyAreLvalues) {
  service_.counted();
  service_.counted();
  EXPECT_EQ(service_.counter.calls, 2);
}

TEST_F(Aspects, MayKeepTheBodyFromRunning) {
  bool ran = false;
  const int result = Instead() AROUND() {
    ran = true;
    return 1;
  };
  EXPECT_EQ(result, -1);
  EXPECT_FALSE(ran);
}

TEST_F(Aspects, LetTheBodysExceptionPass) {
  const auto failing = [] {
    return Step("x") AROUND()->int { throw std::runtime_error("body"); };
  };
  EXPECT_THROW(failing(), std::runtime_error);
  EXPECT_EQ(steps.back(), "x out");
}

TEST_F(Aspects, WrapACallable) {
  auto wrapped =
      latchkey::decorate(Step("c"), [](const std::string& text, std::unique_ptr<int> number) {
        return text + std::to_string(*number);
      });
  EXPECT_EQ(wrapped("n", std::make_unique<int>(5)), "n5");
  EXPECT_EQ(steps.size(), 2u);
  const std::function<int(int)> mutating =
      latchkey::decorate(Step("f"), [sum = 0](int add) mutable { return sum += add; });
  EXPECT_EQ(mutating(2) + mutating(3), 7);
  auto composed = (Step("a") | Step("b"))([](int value) noexcept { return value; });
  static_assert(noexcept(composed(1)));
  EXPECT_EQ(composed(6), 6);
}

TEST_F(Aspects, SeeTheCall) {
  const int number = 5;
  std::string word = "five";
  int seen = 0;
  const Observer observer([&](JoinPoint& point) {
    ++seen;
    EXPECT_EQ(point.argument_count(), 2u);
    EXPECT_EQ(point.argument_name(1), "word");
    EXPECT_EQ(point.argument_type(0), "int");
    EXPECT_EQ(point.argument_type(1), "std::string");
    EXPECT_EQ(point.result_type(), "long");
    EXPECT_EQ(point.get<int>(0), 5);
    EXPECT_EQ(&point.get<std::string>("word"), &word);
    EXPECT_EQ(point.get_if<long>(0), nullptr);
    EXPECT_EQ(point.get_if<int>(2), nullptr);
    EXPECT_EQ(point.get_if<int>("nobody"), nullptr);
    EXPECT_THROW((void)point.argument_name(2), std::out_of_range);
    try {
      (void)point.get<long>("number");
      ADD_FAILURE();
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("is a int, not a long"), std::string::npos)
          << error.what();
    }
    try {
      (void)point.get<int>("nobody");
      ADD_FAILURE();
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("no argument 'nobody'; it has: number, word"),
                std::string::npos)
          << error.what();
    }
  });
  const long result = observer AROUND(number, word) { return 9L + number; };
  EXPECT_EQ(result, 14);
  EXPECT_EQ(seen, 1);
}

}  // namespace
