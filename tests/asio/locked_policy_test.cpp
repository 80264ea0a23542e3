// Policies of a file over LOCKED around coroutines. Each test runs in a child process, because a
// policy stays installed.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include <latchkey/default_locks.hpp>
#include <latchkey/install.hpp>

#include "asio/locked_fixture.hpp"
#include "support/child.hpp"
#include "unit/policy/policy_text.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class Shelf {
 public:
  DECORATED(LOCKED_BY("money"), asio::awaitable<std::string>, pay, (int) number) {
    static_cast<void>(number);
    co_await pause();
    co_return std::string(current_hold()->key());
  }

  DECORATED(LOCKED("code:{number}", LockType::REENTRANT, 5s), asio::awaitable<std::optional<int>>,
            browse, (int) number) {
    co_await pause();
    co_return current_hold() == nullptr ? -number : number;
  }
};

template <class Result>
Result result_of(asio::awaitable<Result> coroutine) {
  asio::io_context context;
  std::optional<Result> result;
  asio::co_spawn(context, std::move(coroutine), [&](std::exception_ptr error, Result given) {
    rethrow(error);
    result.emplace(std::move(given));
  });
  context.run();
  return *std::move(result);
}

TEST(AsioLockedPolicy, MustBeLoaded) {
  Shelf shelf;
  EXPECT_THROW(result_of(shelf.pay(42)), NotConfigured);
}

TEST(AsioLockedPolicy, GivesTheKeyAndTheStrategy) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const PolicyText file(R"(
backends: {main: "memory:"}
policies:
  money: {key: "money:{number % 10}", type: WRITE}
rules:
  Shelf::browse: {wait: 0ms, on_timeout: skip, key: "shelf:{number}"}
)");
              install_from(file.path());
              Shelf shelf;
              CHILD_EXPECT(findings, result_of(shelf.pay(42)) == "money:2");
              CHILD_EXPECT(findings, result_of(shelf.browse(7)) == 7);
              const Hold other =
                  default_locks().with_owner(Owner::make()).lock("shelf:7").acquire(forever);
              CHILD_EXPECT(findings, result_of(shelf.browse(7)) == std::nullopt);
            }),
            "");
}

TEST(AsioLockedPolicy, RunsTheBodyWithoutItsLock) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const PolicyText file(R"(
backends: {main: "memory:"}
policies:
  money: {key: "money"}
rules:
  Shelf::browse: {unlocked: dangerously}
)");
              install_from(file.path());
              Shelf shelf;
              const Hold other =
                  default_locks().with_owner(Owner::make()).lock("code:7").acquire(forever);
              CHILD_EXPECT(findings, result_of(shelf.browse(7)) == -7);
            }),
            "");
}

}  // namespace
}  // namespace latchkey::tests
