// Two C++ and two Java processes that contend for one key: what each is granted, and who waits.
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
#include "support/child.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds, std::chrono::milliseconds;

constexpr std::size_t threads = 2;  // in each of the four processes

/// The first two processes are C++, the others Java.
using Shares = std::array<Share, 4>;

/// Processes that contend with two threads each, of a lock type and with a time inside. Those of
/// C++ may keep what they have released (Options::cache).
class TurnsWithJava
    : public InteropTest,
      public ::testing::WithParamInterface<std::tuple<LockType, microseconds, milliseconds>> {
 protected:
  static void SetUpTestSuite() {
    second_java_ = std::make_unique<JavaPeer>(Deployment::of(DeploymentKind::server).addresses(),
                                              watchdog_period);
  }
  static void TearDownTestSuite() { second_java_.reset(); }

  TurnsWithJava() : InteropTest(DeploymentKind::server) {}

  /// Returns the share of each process.
  Shares run(milliseconds window, std::uint64_t warm) {
    std::vector<std::future<std::string>> cpp = start_cpp_processes(),
                                          java = start_java_processes();
    run_.measure(window, warm);
    for (auto& process : cpp) EXPECT_EQ(process.get(), "");
    for (auto& thread : java) EXPECT_EQ(thread.get(), "true");
    Shares shares;
    for (std::size_t process = 0; process < shares.size(); ++process) {
      shares.at(process) = run_.share_of(process * threads, threads);
    }
    return shares;
  }

  ContestRun run_{4 * threads};
  const Contest& contest_ = run_.contest();

 private:
  std::vector<std::future<std::string>> start_cpp_processes() {
    std::vector<std::future<std::string>> processes;
    for (std::size_t first : {std::size_t{0}, threads}) {
      processes.push_back(std::async(std::launch::async, [this, first] {
        return in_child([&](Findings& findings) {
          const Locks locks = deployment_.connect({.cache = cache_});
          std::vector<std::future<std::string>> running;
          for (std::size_t thread = 0; thread < threads; ++thread) {
            running.push_back(std::async(std::launch::async, [&, number = first + thread] {
              return contest_.contend(locks.lock(key(), type_), number, inside_);
            }));
          }
          for (auto& each : running) {
            const std::string failed = each.get();
            findings.expect(failed.empty(), failed.c_str());
          }
        });
      }));
    }
    return processes;
  }

  std::vector<std::future<std::string>> start_java_processes() {
    std::vector<std::future<std::string>> running;
    for (std::size_t number = 2 * threads; number < 4 * threads; ++number) {
      JavaPeer& peer = number < 3 * threads ? deployment_.java() : *second_java_;
      running.push_back(peer.start("contender" + std::to_string(number),
                                   "contend " + java_word(type_) + ' ' + key() + ' ' +
                                       std::to_string(inside_.count()) + ' ' +
                                       std::to_string(number) + ' ' + contest_.path()));
    }
    return running;
  }

  [[nodiscard]] static std::string key() { return name(); }

  inline static std::unique_ptr<JavaPeer> second_java_;
  const LockType type_ = std::get<0>(GetParam());
  const microseconds inside_ = std::get<1>(GetParam());
  const milliseconds cache_ = std::get<2>(GetParam());
};

// Which of its clients Redisson lets win is not up to latchkey, so they are judged together.
TEST_P(TurnsWithJava, NeitherSideStarvesAndNobodyWaitsForASecond) {
  const Shares shares = run(1s, 50);
  std::printf("    %s:", name().c_str());
  for (const Share& share : shares) {
    std::printf(" %llu (%.0f ms)", static_cast<unsigned long long>(share.grants),
                std::chrono::duration<double, std::milli>(share.longest_wait).count());
  }
  std::printf("; stalled %.0f ms\n",
              std::chrono::duration<double, std::milli>(run_.stalled()).count());

  EXPECT_EQ(contest_->updates, run_.grants()) << "updates were lost";
  EXPECT_EQ(contest_->overlaps, 0U);
  EXPECT_EQ(contest_->stale_tokens, 0U);
  const std::uint64_t cpp = shares[0].grants + shares[1].grants;
  const std::uint64_t java = shares[2].grants + shares[3].grants;
  EXPECT_GE(4 * java, cpp);
  EXPECT_GE(4 * cpp, java);
  EXPECT_GE(4 * shares[0].grants, shares[1].grants);
  EXPECT_GE(4 * shares[1].grants, shares[0].grants);
  for (const Share& share : shares) EXPECT_LT(share.longest_wait, 1s + run_.stalled());
}

std::string name_of(const ::testing::TestParamInfo<TurnsWithJava::ParamType>& each) {
  return std::string(to_string(std::get<0>(each.param))) + '_' +
         std::to_string(std::get<1>(each.param).count()) + "us";
}
using ::testing::Combine, ::testing::Values;
INSTANTIATE_TEST_SUITE_P(Server, TurnsWithJava,
                         Combine(Values(LockType::REENTRANT, LockType::WRITE, LockType::FENCED,
                                        LockType::FAIR),
                                 Values(0us, 1'000us), Values(0ms)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(IdleLocks, TurnsWithJava,
                         Combine(Values(LockType::REENTRANT, LockType::WRITE, LockType::FENCED),
                                 Values(1'000us), Values(100ms)),
                         name_of);

}  // namespace
}  // namespace latchkey::tests
