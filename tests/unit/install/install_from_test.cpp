// install_from(). Each test runs in a child process, because a policy stays installed.
#include <latchkey/install.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/default_locks.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/held.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/registry.hpp>
#include <latchkey/testing/mock_backend.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/child.hpp"
#include "support/recorder.hpp"
#include "unit/policy/policy_text.hpp"
#include "unit/policy/till.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using till::Account;
using till::Seen;
using till::Till;

const Account account{7, "ada", 0};

template <class Error, class Call>
std::string sentence_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// A lease is what remains at the beginning, but for the margin of a hundredth.
bool is_about(std::chrono::milliseconds seen, std::chrono::milliseconds lease) {
  return seen <= lease && seen > lease - lease / 50 - 5s;
}

TEST(InstallFrom, AScopeFollowsItsRuleToo) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const PolicyText file(R"(
backends: {main: "memory:"}
prefix: "shop:"
policies:
  money: {key: "money:{account.id}"}
rules:
  Till::browse: {lease: 300s, key: "shelf:{account.name}", type: READ}
  Till::leaf: {wait: 0ms}
)");
              install_from(file.path());
              Till till;
              const Seen seen = till.browse(account);
              CHILD_EXPECT(findings, seen.key == "shelf:ada");
              CHILD_EXPECT(findings, seen.type == LockType::READ);
              CHILD_EXPECT(findings, is_about(seen.lease, 300s));
              CHILD_EXPECT(findings, till.leaf(account));
              const Hold other =
                  default_locks().with_owner(Owner::make()).lock("till:7").acquire(forever);
              CHILD_EXPECT(findings, !till.leaf(account));
            }),
            "");
}

TEST(InstallFrom, RulesWinOverCodeAndCodeOverDefaults) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const PolicyText file(R"(
backends: {main: "memory:"}
prefix: "shop:"
defaults: {lease: 200s, type: FAIR}
policies:
  money: {key: "money:{account.id}", type: READ}
  slow: {lease: 500s, key: "slow:{account.name}"}
rules:
  Till::*: {lease: 300s}
  Till::withdraw: {type: WRITE}
  Till::peek: {policy: slow, lease: 400s}
)");
              install_from(file.path());
              Till till;
              const Seen deposit = till.deposit(account);
              CHILD_EXPECT(findings, deposit.key == "till:7");
              CHILD_EXPECT(findings, deposit.type == LockType::WRITE);
              CHILD_EXPECT(findings, is_about(deposit.lease, 300s));
              const Seen withdraw = till.withdraw(account);
              CHILD_EXPECT(findings, withdraw.type == LockType::WRITE);
              CHILD_EXPECT(findings, is_about(withdraw.lease, 200s));
              const std::optional<Seen> peek = till.peek(account);
              CHILD_EXPECT(findings, peek && peek->key == "slow:ada");
              CHILD_EXPECT(findings, peek && is_about(peek->lease, 400s));
              const Seen pay = till.pay(account);
              CHILD_EXPECT(findings, pay.key == "money:7" && pay.type == LockType::READ);
              CHILD_EXPECT(findings, is_about(pay.lease, 300s));
            }),
            "");
}

TEST(InstallFrom, NamedBackendsAreSeparate) {
  EXPECT_EQ(in_child([](Findings& findings) {
              ::setenv("LATCHKEY_TEST_SPACE", "memory:policies-b", 1);
              const PolicyText file(R"(
backends:
  a: "memory:policies-a"
  b: "${LATCHKEY_TEST_SPACE}"
backend: a
rules:
  Till::deposit: {backend: b}
  Till::withdraw: {type: WRITE, wait: 0ms, on_lost: report}
)" + money);
              install_from(file.path());
              const Locks b = Locks::connect("memory:policies-b");
              const auto busy = b.lock("till:7", LockType::WRITE).acquire(forever);
              Till till;
              CHILD_EXPECT(findings, till.withdraw(account).locked);
              std::thread([&] {
                // A scope of a test wins over the file.
                const testing::ScopedLocks scope(Locks::connect("memory:"));
                CHILD_EXPECT(findings, till.deposit(account).locked);
              }).join();
              CHILD_EXPECT(findings, has(sentence_of<LockTimeout>([&] { till.deposit(account); }),
                                         "the WRITE lock 'till:7'"));
            }),
            "");
}

struct NightJobs {
  static void run(int day, int& runs) {
    LOCKED_ONCE_PER("night:{day}", 24h) AROUND(day) { ++runs; };
  }
};

TEST(InstallFrom, ARuleNamesTheBackendOfALockedOncePer) {
  EXPECT_EQ(in_child([](Findings& findings) {
              int runs = 0;
              const PolicyText file(R"(
backends:
  a: "memory:once-a"
  b: "memory:once-b"
backend: a
rules:
  NightJobs::run: {backend: b}
)" + money);
              install_from(file.path());
              NightJobs::run(2, runs);
              CHILD_EXPECT(findings, runs == 1);
              CHILD_EXPECT(findings, !Locks::connect("memory:once-b").list().empty());
              CHILD_EXPECT(findings, Locks::connect("memory:once-a").list().empty());
            }),
            "");
}

TEST(InstallFrom, ARuleMayNameSeveralKeys) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const PolicyText file(memory + money + R"(
rules:
  Till::during: {key: ["id:{account.id}", "name:{account.name}"], wait: 0ms}
)");
              install_from(file.path());
              Till till;
              std::vector<std::string> held;
              till.during(account, [&] { held = default_locks().list(); });
              CHILD_EXPECT(findings, (held == std::vector<std::string>{"id:7", "name:ada"}));
              const Hold one =
                  default_locks().with_owner(Owner::make()).lock("name:ada").acquire(forever);
              CHILD_EXPECT(findings,
                           has(sentence_of<LockTimeout>([&] { till.during(account, [] {}); }),
                               "'id:{account.id}, name:{account.name}'"));
            }),
            "");
}

TEST(InstallFrom, StrategiesDecideInsteadOfTheCode) {
  EXPECT_EQ(
      in_child([](Findings& findings) {
        const PolicyText file(memory + money + R"(
rules:
  Till::deposit: {wait: 0ms, on_timeout: run_unlocked_dangerously}
  Till::withdraw: {unlocked: dangerously}
  Till::peek: {wait: 0ms, on_timeout: skip}
  Till::count: {wait: 0ms, on_timeout: raise}
)");
        static Recorder recorder;  // outlives what is installed
        install_from(file.path(), {.listener = &recorder});
        CHILD_EXPECT(findings, recorder.await(Event::Kind::warning));
        const Event warning = recorder.of(Event::Kind::warning).front();
        CHILD_EXPECT(findings, warning.count == 2);
        CHILD_EXPECT(findings, has(warning.text, "Till::deposit (till.hpp:"));
        CHILD_EXPECT(findings, has(warning.text, ") after a timeout"));
        CHILD_EXPECT(findings, has(warning.text, "Till::withdraw (till.hpp:"));
        CHILD_EXPECT(findings, has(warning.text, ") always"));
        CHILD_EXPECT(findings, recorder.of(Event::Kind::warning).size() == 1);
        std::thread([&] {
          const auto busy = default_locks().lock("till:7", LockType::WRITE).acquire(0s, watchdog);
          const auto shelf = default_locks().lock("shelf:3", LockType::WRITE).acquire(forever);
          std::thread([&] {
            Till till;
            CHILD_EXPECT(findings, !till.deposit(account).locked);
            CHILD_EXPECT(findings, !till.withdraw(account).locked);
            CHILD_EXPECT(findings, !till.peek(account));
            CHILD_EXPECT(findings,
                         sentence_of<LockTimeout>([&] { till.count(3); }) != "nothing thrown");
          }).join();
        }).join();
        Till till;
        CHILD_EXPECT(findings, till.deposit(account).locked);
        CHILD_EXPECT(findings, till.peek(account)->locked);
        CHILD_EXPECT(findings, till.count(3) == 3);
      }),
      "");
}

TEST(InstallFrom, LockedByWithoutAFileNamesTheMissingCall) {
  const testing::ScopedLocks scope(Locks::connect("memory:"));
  const std::string sentence = sentence_of<NotConfigured>([] { Till().pay(account); });
  EXPECT_TRUE(has(sentence, "LOCKED_BY(\"money\")")) << sentence;
  EXPECT_TRUE(has(sentence, "latchkey::install_from(\"latchkey.yaml\")")) << sentence;
}

TEST(InstallFrom, ThrowsAllErrorsAndInstallsNothing) {
  EXPECT_EQ(
      in_child([](Findings& findings) {
        const PolicyText bad("backends: {main: \"memory:\"}\nbackend: man\nrulez: {}\n" + money);
        try {
          install_from(bad.path());
          findings.expect(false, "it throws");
        } catch (const PolicyError& error) {
          CHILD_EXPECT(findings, error.all().size() == 2);
          CHILD_EXPECT(findings, error.line() == 2 && error.column() == 10);
          CHILD_EXPECT(findings, error.all().at(1).line() == 3);
          CHILD_EXPECT(findings, error.all().at(1).column() == 1);
          CHILD_EXPECT(findings, has(error.what(), "'rulez'"));
          CHILD_EXPECT(findings, has(error.what(), "'man'"));
        }
        CHILD_EXPECT(findings, sentence_of<NotConfigured>([] { Till().deposit(account); }) !=
                                   "nothing thrown");
        const PolicyText good(memory + money);
        install_from(good.path());
        CHILD_EXPECT(findings, Till().deposit(account).locked);
        CHILD_EXPECT(findings,
                     has(sentence_of<std::logic_error>([&] { install_from(good.path()); }),
                         "was called twice"));
        CHILD_EXPECT(findings, Till().pay(account).locked);
      }),
      "");
}

TEST(InstallFrom, AMalformedUriIsAnErrorWithoutItsSecrets) {
  EXPECT_EQ(
      in_child([](Findings& findings) {
        ::setenv("LATCHKEY_TEST_SECRET", "hunter2", 1);
        register_backend("refusing", [](std::string_view uri, const Options&) {
          throw std::invalid_argument("no such place: " + std::string(uri));
          return std::unique_ptr<Backend>();
        });
        const PolicyText file("backends:\n  main: refusing://${LATCHKEY_TEST_SECRET}@h\n" + money);
        CHILD_EXPECT(findings, check_policy_file(file.path()).empty());
        try {
          install_from(file.path());
          findings.expect(false, "it throws");
        } catch (const PolicyError& error) {
          CHILD_EXPECT(findings, error.line() == 2 && error.column() == 9);
          CHILD_EXPECT(findings, has(error.what(), "refusing://${LATCHKEY_TEST_SECRET}@h"));
          CHILD_EXPECT(findings, !has(error.what(), "hunter2"));
        }
      }),
      "");
}

std::unique_ptr<Backend> mock_that_offers(const Capabilities& offered) {
  auto backend = std::make_unique<::testing::NiceMock<testing::MockBackend>>();
  backend->offer(offered);
  return backend;
}

TEST(InstallFrom, ALeaseThatTheBackendDoesNotOfferIsAnErrorAtItsPlace) {
  EXPECT_EQ(in_child([](Findings& findings) {
              register_backend("brief", [](std::string_view, const Options&) {
                Capabilities offered;
                offered.max_lease = 60s;
                return mock_that_offers(offered);
              });
              const PolicyText file("backends: {main: \"brief:\"}\npolicies:\n  money: " +
                                    std::string("{key: a, lease: 5m}\n"));
              const std::string sentence =
                  sentence_of<PolicyError>([&] { install_from(file.path()); });
              CHILD_EXPECT(findings, has(sentence, ":3:26"));
              CHILD_EXPECT(findings,
                           has(sentence, "mock: offers no lease of 300 s: its longest is 60 s"));
            }),
            "");
}

TEST(InstallFrom, ATokenThatTheBackendDoesNotGiveIsAnErrorAtItsPlace) {
  EXPECT_EQ(in_child([](Findings& findings) {
              register_backend("poor", [](std::string_view, const Options&) {
                Capabilities offered;
                offered.read_write = offered.fenced = true;
                return mock_that_offers(offered);
              });
              const PolicyText file("backends: {main: \"poor:\"}\npolicies:\n  money: " +
                                    std::string("{key: a, type: WRITE, fenced: true}\n"));
              const std::string sentence =
                  sentence_of<PolicyError>([&] { install_from(file.path()); });
              CHILD_EXPECT(findings, has(sentence, ":3:40"));
              CHILD_EXPECT(findings, has(sentence,
                                         "mock: gives no fencing token to WRITE, only to FENCED: "
                                         "say FENCED"));
            }),
            "");
}

TEST(InstallFrom, ALockDelayThatTheBackendDoesNotKeepIsAnErrorAtItsPlace) {
  EXPECT_EQ(in_child([](Findings& findings) {
              register_backend("session", [](std::string_view, const Options&) {
                Capabilities offered;
                offered.lifetime = Capabilities::Lifetime::per_session;
                offered.max_lease = 60s;
                return mock_that_offers(offered);
              });
              const PolicyText file("backends: {main: \"session:\"}\npolicies:\n  money: " +
                                    std::string("{key: a, lock_delay: 5s}\n"));
              const std::string sentence =
                  sentence_of<PolicyError>([&] { install_from(file.path()); });
              CHILD_EXPECT(findings, has(sentence, ":3:31"));
              CHILD_EXPECT(findings, has(sentence, "mock: keeps no lock_delay"));
            }),
            "");
}

TEST(InstallFrom, RejectsACacheThatTheBackendDoesNotKeep) {
  EXPECT_EQ(in_child([](Findings& findings) {
              register_backend(
                  "plain", [](std::string_view, const Options&) { return mock_that_offers({}); });
              const PolicyText file(
                  "backends: {main: \"plain:\"}\npolicies:\n  money: {key: a, cache: 1s}\n");
              const std::string sentence =
                  sentence_of<PolicyError>([&] { install_from(file.path()); });
              CHILD_EXPECT(findings, has(sentence, ":3:26"));
              CHILD_EXPECT(findings, has(sentence, "mock: does not tell of those who wait"));
            }),
            "");
}

TEST(InstallFrom, ARuleGivesAMethodAToken) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const PolicyText file(
                  "backends: {main: \"memory:\"}\npolicies:\n  money: {key: a, fenced: true}\n"
                  "rules:\n  Till::during: {type: WRITE, fenced: true}\n");
              install_from(file.path());
              Till till;
              int fenced = 0;
              till.during(account, [&] {
                const std::optional<Fence> fence = current_hold()->fence();
                fenced += fence && fence->type == LockType::WRITE && fence->key == "till:7";
              });
              CHILD_EXPECT(findings, fenced == 1);
              CHILD_EXPECT(findings, till.pay(account).type == LockType::FENCED);
              CHILD_EXPECT(findings, till.deposit(account).type == LockType::WRITE);
            }),
            "");
}

}  // namespace
}  // namespace latchkey::tests
// tidy: long-file because each setting of a file is tried in a child process of its own
