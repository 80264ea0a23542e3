// docs/operate.md, run: an aspect that starts spans, with a tracer that records them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <latchkey/latchkey.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
using ::testing::ElementsAre;

std::vector<std::string> record;

/// As far as the page uses it, opentelemetry::trace::Tracer.
struct RecordingTracer {
  struct Scope {
    ~Scope() { record.push_back("end of " + name); }
    std::string name;
  };
  [[nodiscard]] static std::shared_ptr<std::string> StartSpan(const std::string& name) {
    return std::make_shared<std::string>(name);
  }
  [[nodiscard]] static Scope WithActiveSpan(const std::shared_ptr<std::string>& span) {
    record.push_back("begin of " + *span + (latchkey::current_hold() != nullptr ? ", held" : ""));
    return {*span};
  }
};

const auto tracer = std::make_unique<RecordingTracer>();

// clang-format off: the page's own lines
struct Traced : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) const {
    const auto span = tracer->StartSpan(std::string(point.name()));
    const auto scope = tracer->WithActiveSpan(span);
    return proceed();
  }
};
// clang-format on

const Traced traced;

struct Ledger {
  static long add(int /*account*/, long amount) { return amount; }
};

struct Bank {
  long deposit(int account, long amount);
  Ledger ledger_;
};

// clang-format off: the page's own lines
long Bank::deposit(int account, long amount) {
  return traced | LOCKED("account:{account}", LockType::WRITE, 3s) | traced
             AROUND(account, amount) {
    return ledger_.add(account, amount);
  };
}
// clang-format on

TEST(DocsMonitoring, SpansCoverTheWaitAndTheWork) {
  const latchkey::testing::ScopedLocks locks;
  record.clear();
  EXPECT_EQ(Bank().deposit(42, 7), 7);
  ASSERT_EQ(record.size(), 4U);
  const std::string name = record[0].substr(sizeof "begin of " - 1);
  EXPECT_THAT(name, ::testing::EndsWith("Bank::deposit"));
  EXPECT_THAT(record, ElementsAre("begin of " + name, "begin of " + name + ", held",
                                  "end of " + name, "end of " + name));
}

}  // namespace
