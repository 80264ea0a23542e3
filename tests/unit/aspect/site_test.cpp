// Sites: known before main, under names that both compilers agree on.
#include <latchkey/site.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/aspect.hpp>
#include <latchkey/decorate.hpp>
#include <latchkey/decorated_callable.hpp>

namespace site_names {

struct Through : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint&, Proceed&& proceed) const {
    return proceed();
  }
};

struct Named : Through {
  static constexpr const char* fixed_site_name() noexcept { return "a fixed name"; }
};

struct Thing {
  int member(int value, const std::string& text) const {
    return Through() AROUND(value, text) { return value; };
  }
  template <class T>
  T templated(T value) {
    return Through() AROUND(value) { return value; };
  }
  static void fixed() { Named() AROUND(){}; }
  bool operator<(int value) const {
    return Through() AROUND(value) { return value > 0; };
  }
  int operator()(int value) const {
    return Through() AROUND(value) { return value; };
  }
};

template <class T>
struct Box {
  T never_called(T first, T second) {
    return Through() AROUND(first, second) { return first + second; };
  }
};
template struct Box<int>;

auto in_no_function =
    latchkey::decorate(Through(), [](const std::string&, long) {}, LATCHKEY_DETAIL_HERE);

[[maybe_unused]] int within_a_lambda() {
  const auto inner = [](int value) {
    return Through() AROUND(value) { return value; };
  };
  return inner(1);
}

}  // namespace site_names

namespace {

const latchkey::Site* find_site(std::string_view name) {
  for (const latchkey::Site& site : latchkey::sites()) {
    if (site.name() == name) return &site;
  }
  return nullptr;
}

/// Runs before main, in whatever order: the list must be usable then.
const std::size_t known_before_main = [] {
  const auto all = latchkey::sites();
  return static_cast<std::size_t>(std::distance(all.begin(), all.end()));
}();

TEST(Sites, AreKnownWithoutACall) {
  EXPECT_GT(known_before_main, 0u);
  const latchkey::Site* const site = find_site("site_names::Thing::member");
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->method(), site->name());
  EXPECT_TRUE(site->file().ends_with("site_test.cpp"));
  EXPECT_GT(site->line(), 0u);
  ASSERT_EQ(site->argument_count(), 2u);
  EXPECT_EQ(site->argument_name(0), "value");
  EXPECT_EQ(site->argument_name(1), "text");
  EXPECT_EQ(site->argument_type(1), "std::string");
  EXPECT_EQ(site->result_type(), "int");
  EXPECT_EQ(site->notes(), nullptr);
}

TEST(Sites, AreNamedAlikeByBothCompilers) {
  EXPECT_NE(find_site("site_names::Thing::operator<"), nullptr);
  EXPECT_NE(find_site("site_names::Thing::operator()"), nullptr);
  EXPECT_NE(find_site("site_names::Box::never_called"), nullptr);
  EXPECT_NE(find_site("site_names::within_a_lambda"), nullptr);
}

TEST(Sites, TakeAFixedName) {
  const latchkey::Site* const site = find_site("a fixed name");
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->method(), "site_names::Thing::fixed");
}

TEST(Sites, OutsideOfFunctionsAreNamedByFileAndLine) {
  const auto all = latchkey::sites();
  const auto found = std::find_if(all.begin(), all.end(), [](const latchkey::Site& site) {
    return site.name().starts_with("site_test.cpp:");
  });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->method(), "");
  EXPECT_EQ(found->argument_count(), 2u);
  EXPECT_EQ(found->argument_name(0), "") << "by position";
  EXPECT_EQ(found->argument_type(1), "long");
  EXPECT_EQ(found->result_type(), "void");
}

TEST(Sites, AreOneForEachInstanceOfATemplate) {
  site_names::Thing thing;
  thing.templated(1);
  thing.templated(2.0);
  std::set<std::string> results;
  for (const latchkey::Site& site : latchkey::sites()) {
    if (site.name() == "site_names::Thing::templated") results.emplace(site.result_type());
  }
  EXPECT_EQ(results, (std::set<std::string>{"int", "double"}));
}

TEST(Sites, AreReadByManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (const latchkey::Site& site : latchkey::sites()) EXPECT_FALSE(site.name().empty());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
