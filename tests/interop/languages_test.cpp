// A C++, a Java and a Python process that contend for one key: each language gets its share.
// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "interop/contest.hpp"
#include "interop/contest_run.hpp"
#include "interop/interop.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr std::size_t threads = 2;  // in each of the three processes; of Python, one is a task
constexpr std::array languages{"C++", "Java", "Python"};

/// Contends with a lock type and with a time inside.
class TurnsOfThreeLanguages
    : public InteropTest,
      public ::testing::WithParamInterface<std::tuple<LockType, microseconds>> {
 protected:
  TurnsOfThreeLanguages() : InteropTest(DeploymentKind::server) {}

  std::vector<std::future<std::string>> start_cpp() {
    std::vector<std::future<std::string>> running;
    for (std::size_t number = 0; number < threads; ++number) {
      running.push_back(std::async(std::launch::async, [this, number] {
        return run_.contest().contend(locks_.lock(name(), type_), number, inside_);
      }));
    }
    return running;
  }

  std::vector<std::future<std::string>> start_java() {
    std::vector<std::future<std::string>> running;
    for (std::size_t number = threads; number < 2 * threads; ++number) {
      running.push_back(deployment_.java().start(
          "contender" + std::to_string(number),
          "contend " + java_word(type_) + ' ' + name() + ' ' + std::to_string(inside_.count()) +
              ' ' + std::to_string(number) + ' ' + run_.contest().path()));
    }
    return running;
  }

  [[nodiscard]] std::unique_ptr<Process> start_python() const {
    const std::string folder = LATCHKEY_INTEROP_TESTS;
    return std::make_unique<Process>(
        std::vector<std::string>{"env", std::string("PYTHONPATH=") + LATCHKEY_PYTHON,
                                 std::string("LATCHKEY_C_LIBRARY=") + LATCHKEY_C_LIBRARY,
                                 "PYTHONDONTWRITEBYTECODE=1", "python3", folder + "/contender.py",
                                 deployment_.addresses(), std::string(to_string(type_)), name(),
                                 std::to_string(inside_.count()), std::to_string(2 * threads),
                                 run_.contest().path()},
        folder_.file("python.log"));
  }

  const LockType type_ = std::get<0>(GetParam());
  const microseconds inside_ = std::get<1>(GetParam());
  ContestRun run_{languages.size() * threads};
  const TemporaryFolder folder_;
};

TEST_P(TurnsOfThreeLanguages, EachGetsAQuarterOfItsEvenShareOrMore) {
  auto cpp = start_cpp();
  auto java = start_java();
  const std::unique_ptr<Process> python = start_python();
  run_.measure(1s, 20);
  for (auto& thread : cpp) EXPECT_EQ(thread.get(), "");
  for (auto& thread : java) EXPECT_EQ(thread.get(), "true");
  EXPECT_EQ(python->wait(), 0) << folder_.read("python.log");

  std::uint64_t all = 0;
  std::array<Share, languages.size()> shares;
  std::printf("    %s:", name().c_str());
  for (std::size_t language = 0; language < shares.size(); ++language) {
    const Share& share = shares.at(language) = run_.share_of(language * threads, threads);
    all += share.grants;
    std::printf(" %s %llu (%.0f ms)", languages.at(language),
                static_cast<unsigned long long>(share.grants),
                std::chrono::duration<double, std::milli>(share.longest_wait).count());
  }
  std::printf("; stalled %.0f ms\n",
              std::chrono::duration<double, std::milli>(run_.stalled()).count());

  EXPECT_EQ(run_.contest()->updates, run_.grants()) << "updates were lost";
  EXPECT_EQ(run_.contest()->overlaps, 0U);
  EXPECT_EQ(run_.contest()->stale_tokens, 0U);
  for (std::size_t language = 0; language < shares.size(); ++language) {
    EXPECT_GE(4 * shares.size() * shares.at(language).grants, all) << languages.at(language);
    EXPECT_LT(shares.at(language).longest_wait, 1s + run_.stalled()) << languages.at(language);
  }
}

INSTANTIATE_TEST_SUITE_P(Server, TurnsOfThreeLanguages,
                         ::testing::Combine(::testing::Values(LockType::REENTRANT, LockType::WRITE,
                                                              LockType::FENCED, LockType::FAIR),
                                            ::testing::Values(0us, 1'000us)),
                         [](const auto& each) {
                           return std::string(to_string(std::get<0>(each.param))) + '_' +
                                  std::to_string(std::get<1>(each.param).count()) + "us";
                         });

}  // namespace
}  // namespace latchkey::tests
