// docs/annotations.md, compiled and run: its snippets stand here word for word.
// tidy: long-file because it is one page
#include <latchkey/latchkey.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <optional>
#include <source_location>
#include <sstream>
#include <string>
#include <string_view>

#include <latchkey/testing/scoped_locks.hpp>

// clang-format off: the page's own lines
namespace docs_annotations {

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id = 0;
};

struct Receipt {
  int account = 0;
  long sum = 0;
};

struct Ledger {
  Receipt add(int id, long amount) { return latest = {id, sums[id] += amount}; }
  const Receipt& last(int) const { return latest; }
  long sum(int id) const { return sums.at(id); }
  std::map<int, long> all() const { return sums; }

  std::map<int, long> sums{{1, 0}};
  Receipt latest;
};

struct Finished {
  void operator()() const {}
};

Ledger ledger;
std::map<std::string, std::chrono::nanoseconds> timings;

void start() {
  latchkey::install(latchkey::Locks::connect("memory:"));
}

struct UserVO {
  int id = 0;
  std::string name;
};

std::string save(const UserVO& userVO) {
  return LOCKED("#userVO.id", LockType::WRITE, 30s) AROUND(userVO) {
    return "saved " + userVO.name;
  };
}

Receipt deposit(const Account& account, long amount) {
  return LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {
    return ledger.add(account.id, amount);
  };
}

const Receipt& last(const Account& account) {
  return LOCKED("account:{account.id}", LockType::READ) AROUND(account) -> const Receipt& {
    return ledger.last(account.id);
  };
}

Receipt deposit_by_hand(const Account& account, long amount) {
  const auto place = [] { return std::source_location::current(); };
  return latchkey::locked<"account:{account.id}">(place) *
             latchkey::terms(LockType::WRITE, 3s, 30s) &&
         latchkey::with_arguments<"account, amount">(place, account, amount) && [&]() {
           return ledger.add(account.id, amount);
         };
}

bool withdraw_here(const Account& account, long amount) {
  auto hold = LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s) HERE(account);
  if (ledger.sum(account.id) < amount) return false;  // gives the lock back
  ledger.add(account.id, -amount);
  return !hold.lost();
}

void report_unless_busy(const Account& account) {
  if (auto hold = LOCKED("report:{account.id}", LockType::REENTRANT, 0s)
                      .on_timeout(latchkey::strategy::skip) HERE(account)) {
    std::cout << ledger.sum(account.id) << '\n';
  }
}

long sum_here(const Account& account) {
  const auto place = [] { return std::source_location::current(); };
  const auto hold = latchkey::locked<"account:{account.id}">(place) *
                        latchkey::terms(LockType::READ) &&
                    latchkey::for_scope<"account">(place, account);
  return ledger.sum(account.id);
}

class Bank {
 public:
  DECORATED(LOCKED("account:{account.id}", LockType::READ, 3s, 30s), long, balance, (const),
            (const Account&) account) {
    return ledger_.sum(account.id);
  }
  DECORATED(LOCKED("report"), (std::map<int, long>), report) { return ledger_.all(); }
  DECORATED(LOCKED("rate:{currency}"), (static double), rate, (const std::string&) currency) {
    return currency == "EUR" ? 1.0 : 0.9;
  }
  DECORATED(LOCKED("audit").no_throw(), void, audit, (noexcept)) { ++audits_; }

 private:
  Ledger ledger_;
  int audits_ = 0;
};

class BankByHand {
 public:
  long balance(const Account& account) const {
    return LOCKED("account:{account.id}", LockType::READ, 3s, 30s) AROUND(account) -> long {
      return body_of_balance(account);
    };
  }
  long body_of_balance(const Account& account) const { return ledger_.sum(account.id); }

 private:
  Ledger ledger_;
};

auto refresh = LOCKED("cache:{0}", LockType::REENTRANT, 1s, 10s)(
    [](const std::string& region) { return "fresh " + region; });

auto refresh_by_hand = latchkey::decorate(
    latchkey::locked<"cache:{0}">() * latchkey::terms(LockType::REENTRANT, 1s, 10s),
    [](const std::string& region) { return "fresh " + region; },
    [] { return std::source_location::current(); });

bool deposited(const Account& account, long amount) {
  try {
    deposit(account, amount);
    return true;
  } catch (const latchkey::BackendUnavailable& error) {
    return error.body_ran();  // false: nothing was done, so it can be called again
  }
}

std::optional<Receipt> try_deposit(const Account& account, long amount) {
  return LOCKED("account:{account.id}", LockType::WRITE, 100ms, 30s)
      .named("deposit, if possible")
      .on_timeout(latchkey::strategy::skip)
      .on_unavailable(
          latchkey::strategy::fallback([](const Account&, long) { return std::nullopt; }))
          AROUND(account, amount) -> std::optional<Receipt> {
    return ledger.add(account.id, amount);
  };
}

}  // namespace docs_annotations

template <>
inline constexpr bool latchkey::completes_at_return<docs_annotations::Finished> = true;

namespace docs_annotations {

void transfer(const Account& from, const Account& to, long amount) {
  LOCKED(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 3s, 30s)
      AROUND(from, to, amount) {
    ledger.add(from.id, -amount);
    ledger.add(to.id, amount);
  };
}

long sum_of(const std::vector<int>& ids) {
  return LOCKED("account:{ids[*]}", LockType::READ, 3s) AROUND(ids) {
    long sum = 0;
    for (const int id : ids) sum += ledger.sum(id);
    return sum;
  };
}

void settle(const Account& account) {
  ASSERT_HELD("account:{account.id}", account);
  if (latchkey::Hold* hold = latchkey::current_hold(); hold->remaining() < 1s) hold->extend(10s);
}

void work_with(const latchkey::Locks& locks) {
  const auto hold = locks.lock("alarmed").acquire();
  locks.force_release("alarmed");
}

struct Alarm : latchkey::Listener {
  void on_event(const latchkey::Event& event) override {
    if (event.kind == latchkey::Event::Kind::lost) {
      std::cerr << event.key << " is lost: " << event.text << '\n';
    }
  }
  bool wants_everything() const noexcept override { return false; }  // losses and errors only
};

void run_with_an_alarm() {
  Alarm alarm;
  const auto locks = latchkey::Locks::connect("memory:", {.listener = &alarm});
  work_with(locks);
  locks.close(1s);  // the alarm gets the rest of the events
}

struct Timed : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) const {
    const auto start = std::chrono::steady_clock::now();
    struct Done {
      std::string_view name;
      std::chrono::steady_clock::time_point start;
      ~Done() { timings[std::string(name)] += std::chrono::steady_clock::now() - start; }
    } done{point.name(), start};
    return proceed();
  }
};

long withdraw(const Account& account, long amount) {
  return Timed() | LOCKED("account:{account.id}", LockType::WRITE) AROUND(account, amount) {
    return ledger.add(account.id, -amount).sum;
  };
}

void list() {
  for (const latchkey::Site& site : latchkey::sites()) {
    std::cout << site.name() << ' ' << site.file() << ':' << site.line() << '\n';
    for (const latchkey::SiteNote* note = site.notes(); note != nullptr; note = note->next) {
      std::cout << "  " << note->kind << ' ' << note->text << '\n';  // LOCKED account:{account.id}
    }
  }
}

}  // namespace docs_annotations
// clang-format on

namespace {

namespace page = docs_annotations;

class Annotations : public ::testing::Test {
 protected:
  latchkey::testing::ScopedLocks scope_{latchkey::Locks::connect("memory:")};
};

TEST_F(Annotations, BehaveAsThePageSays) {
  const page::Account account{1};
  EXPECT_EQ(page::deposit(account, 5).sum, 5);
  EXPECT_EQ(page::deposit_by_hand(account, 5).sum, 10);
  EXPECT_EQ(&page::last(account), &page::ledger.latest);
  EXPECT_EQ(page::try_deposit(account, 1)->sum, 11);
  EXPECT_TRUE(page::deposited(account, 0));
  EXPECT_EQ(page::withdraw(account, 1), 10);
  page::transfer(account, {2}, 4);
  EXPECT_EQ(page::sum_of({1, 2}), 10);
  EXPECT_EQ(page::sum_of({1}), 6);
  EXPECT_EQ(page::timings.size(), 1u);
  EXPECT_EQ(page::refresh("eu"), page::refresh_by_hand("eu"));
  EXPECT_TRUE(page::withdraw_here(account, 2));
  EXPECT_FALSE(page::withdraw_here(account, 100));
  EXPECT_EQ(page::sum_here(account), 4);
  std::ostringstream reported;
  std::streambuf* const out = std::cout.rdbuf(reported.rdbuf());
  page::report_unless_busy(account);
  std::cout.rdbuf(out);
  EXPECT_EQ(reported.str(), "4\n");
  EXPECT_THROW(page::settle(account), latchkey::NotHeld);
  LOCKED("account:{account.id}") AROUND(account) { page::settle(account); };
  EXPECT_EQ(page::save({7, "ada"}), "saved ada");
  std::ostringstream text;
  std::streambuf* const before = std::cerr.rdbuf(text.rdbuf());
  page::run_with_an_alarm();
  std::cerr.rdbuf(before);
  EXPECT_EQ(text.str(), "alarmed is lost: the backend no longer had it when it was released\n");
}

TEST_F(Annotations, StandAtDeclarations) {
  page::Bank bank;
  EXPECT_EQ(bank.balance({1}), page::BankByHand().balance({1}));
  EXPECT_EQ(bank.report().size(), 1u);
  EXPECT_EQ(page::Bank::rate("EUR"), 1.0);
  bank.audit();
  static_assert(noexcept(bank.audit()));
  static_assert(latchkey::completes_at_return<page::Finished>);
}

TEST_F(Annotations, AreListed) {
  std::ostringstream text;
  std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
  page::list();
  std::cout.rdbuf(before);
  EXPECT_NE(text.str().find("  LOCKED account:{account.id}\n"), std::string::npos);
}

/// The file of `path`, which is looked for from this source file upwards.
std::string content(const std::string& path) {
  const std::string here = std::source_location::current().file_name();
  std::ifstream file(here.substr(0, here.rfind("tests/")) + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_F(Annotations, CompiledFilesContainEverySnippetOfThePage) {
  const std::string page = content("docs/annotations.md");
  ASSERT_FALSE(page.empty());
  std::string source;
  for (const char* const path :
       {"tests/unit/decorate/docs_annotations_test.cpp", "tests/annotations/docs_test.cpp",
        "tests/unit/docs/after_an_error_test.cpp",
        // both forms of one service, side by side:
        "examples/bank/bank.hpp", "examples/bank/annotated_bank.hpp",
        "examples/http_service/ledger.hpp", "examples/http_service/annotated_ledger.hpp",
        "examples/lock_action/service.hpp", "examples/lock_action/annotated_service.hpp",
        "examples/tutorial/stock.hpp", "examples/tutorial/annotated_stock.hpp"}) {
    const std::string text = content(path);
    ASSERT_FALSE(text.empty()) << path;
    source += text;
  }
  const std::string_view fence = "```cpp\n";
  int snippets = 0;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    const std::string snippet = page.substr(at, page.find("```", at) - at);
    EXPECT_NE(source.find(snippet), std::string::npos) << snippet;
    ++snippets;
  }
  EXPECT_GT(snippets, 10);
}

}  // namespace
