// docs/operate.md, compiled and run: its snippets about starting, stopping and renaming stand here.
#include <latchkey/latchkey.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <latchkey/default_locks.hpp>
#include <latchkey/testing/recorder.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/child.hpp"

namespace docs_operating {
namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;
using ::testing::UnorderedElementsAre;

struct Account {
  int id = 0;
};

std::vector<int> archived;
void archive(const Account& account) { archived.push_back(account.id); }

// clang-format off: the page's own lines
void start(const char* uri, latchkey::Listener& listener) {
  latchkey::install(latchkey::Locks::connect(
      uri, {.prefix = "shop:",                         // one for each environment on a server
            .startup = latchkey::Startup::allow_down,  // start even if the server is down
            .announce = true,                          // holders have names, if both sides say so
            .listener = &listener}));
}

void stop() {
  latchkey::default_locks().close(5s);  // waits end with Closed; holders have 5 s to release
}

void close_account(const Account& account) {
  LOCKED(KEYS("acct:{account.id}", "account:{account.id}"), LockType::WRITE) AROUND(account) {
    archive(account);
  };
}
// clang-format on

TEST(DocsOperating, StartsAndStops) {
  // In a child: what is installed stays installed.
  EXPECT_EQ(latchkey::tests::in_child([](latchkey::tests::Findings& findings) {
              latchkey::testing::Recorder recorder;
              start("memory:", recorder);
              const latchkey::Locks& locks = latchkey::default_locks();
              CHILD_EXPECT(findings, locks.lock("a").acquire().covers("a"));
              stop();
              bool closed = false;
              try {
                static_cast<void>(locks.lock("a").acquire());
              } catch (const latchkey::Closed&) {
                closed = true;
              }
              CHILD_EXPECT(findings, closed);
              CHILD_EXPECT(findings, recorder.taken().size() == 1);
            }),
            "");
}

TEST(DocsUpgrading, HoldsTheOldAndTheNewKey) {
  const ScopedLocks locks;
  close_account({7});
  EXPECT_EQ(archived, std::vector<int>{7});
  EXPECT_THAT(locks.taken(), UnorderedElementsAre(Taken{"acct:7", LockType::WRITE},
                                                  Taken{"account:7", LockType::WRITE}));
}

}  // namespace
}  // namespace docs_operating
