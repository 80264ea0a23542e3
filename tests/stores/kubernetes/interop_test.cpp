// Elections in which latchkey's Leader takes part beside client-go's elector and fabric8's.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/leader.hpp>

#include "fixture.hpp"
#include "neighbours.hpp"

namespace latchkey::tests {
namespace {

/// A Leader that notes its terms. One lasts until the last moment at which `is_leader` was true: a
/// machine that stalls may wake the callback later.
class NotingLeader {
 public:
  explicit NotingLeader(const std::string& uri)
      : locks_(kubernetes_locks(uri, {.watchdog = 3s, .command_timeout = 1s})),
        leader_(new Leader(locks_.leader(
            "billing",
            [this](const std::stop_token& stop, std::uint64_t term) { lead(stop, term); }))) {
    ready_ = leader_.get();
  }

  [[nodiscard]] bool leads() const { return leader_->is_leader(); }
  void resign() { leader_.reset(); }
  [[nodiscard]] std::vector<Term> terms() const {
    const std::lock_guard lock(mutex_);
    return terms_;
  }
  [[nodiscard]] std::vector<std::uint64_t> fences() const {
    const std::lock_guard lock(mutex_);
    return fences_;
  }

 private:
  void lead(const std::stop_token& stop, std::uint64_t term) {
    Term mine{"latchkey", nanoseconds_now(), 0};
    while (!stop.stop_requested()) {
      const std::int64_t now = nanoseconds_now();
      const Leader* const leader = ready_;
      if (leader == nullptr || leader->is_leader()) mine.end = now;
      // sleeps: a callback that works until it is told to stop
      std::this_thread::sleep_for(5ms);
    }
    const std::lock_guard lock(mutex_);
    terms_.push_back(mine);
    fences_.push_back(term);
  }

  mutable std::mutex mutex_;
  std::vector<Term> terms_;
  std::vector<std::uint64_t> fences_;
  std::atomic<const Leader*> ready_{nullptr};
  const Locks locks_;
  std::unique_ptr<Leader> leader_;
};

class KubernetesNeighbour : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!Neighbour::client_go().missing.empty()) GTEST_SKIP() << Neighbour::client_go().missing;
    if (!program().missing.empty()) GTEST_SKIP() << program().missing;
    server_ = std::make_unique<TlsApiServer>();
  }
  static const Neighbour& program() {
    return std::string(GetParam()) == "client_go" ? Neighbour::client_go() : Neighbour::fabric8();
  }
  Candidate& start(const std::string& name) {
    candidates_.push_back(std::make_unique<Candidate>(program(), *server_, name));
    return *candidates_.back();
  }
  /// No two terms overlap: those of all candidates, and of these Leaders.
  void expect_one_leader(const std::vector<const NotingLeader*>& leaders) const {
    std::vector<Term> all;
    for (const NotingLeader* const leader : leaders) std::ranges::copy(leader->terms(), into(all));
    for (const auto& candidate : candidates_) std::ranges::copy(candidate->terms(), into(all));
    std::ranges::sort(all, {}, &Term::begin);
    for (std::size_t next = 1; next < all.size(); ++next) {
      EXPECT_LE(all[next - 1].end, all[next].begin)
          << all[next - 1].who << " led for " << all[next - 1].end - all[next].begin
          << " ns beside " << all[next].who;
    }
  }
  static std::back_insert_iterator<std::vector<Term>> into(std::vector<Term>& all) {
    return std::back_inserter(all);
  }

  std::unique_ptr<TlsApiServer> server_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
};

INSTANTIATE_TEST_SUITE_P(Electors, KubernetesNeighbour, ::testing::Values("client_go", "fabric8"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(KubernetesNeighbour, LeadershipGoesToAndFroByReleases) {
  NotingLeader first(server_->uri());
  ASSERT_TRUE(eventually([&] { return first.leads(); }));
  Candidate& other = start("one");
  // sleeps: the other candidate asks several times, and in vain
  std::this_thread::sleep_for(2s);
  EXPECT_FALSE(other.leads());
  EXPECT_TRUE(first.leads());
  first.resign();
  ASSERT_TRUE(eventually([&] { return other.leads(); }));
  NotingLeader second(server_->uri());
  // sleeps: longer than the duration of a Lease that is renewed
  std::this_thread::sleep_for(4s);
  EXPECT_TRUE(other.leads());
  EXPECT_FALSE(second.leads());
  other.resign();
  const auto resigned = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] { return second.leads(); }));
  RecordProperty("taken_after_ms",
                 static_cast<int>((std::chrono::steady_clock::now() - resigned) / 1ms));
  second.resign();
  ASSERT_EQ(first.fences().size(), 1U);
  ASSERT_EQ(second.fences().size(), 1U);
  EXPECT_GT(second.fences()[0], first.fences()[0] + 1) << "the other one has counted, too";
  expect_one_leader({&first, &second});
}

TEST_P(KubernetesNeighbour, ADeadNeighboursLeaseIsTakenAfterItsDuration) {
  Candidate& dead = start("dead");
  ASSERT_TRUE(eventually([&] { return dead.leads(); }));
  NotingLeader leader(server_->uri());
  Candidate& spare = start("spare");
  // sleeps: both others see that it lives
  std::this_thread::sleep_for(1s);
  dead.kill();
  ASSERT_TRUE(eventually([&] { return leader.leads() || spare.leads(); }));
  if (spare.leads()) spare.kill();
  ASSERT_TRUE(eventually([&] { return leader.leads(); }));
  leader.resign();
  expect_one_leader({&leader});
}

// Candidates of both kinds end in turn: by a release, or killed.
TEST_P(KubernetesNeighbour, ManyTakeoversNeverHaveTwoLeaders) {
  std::vector<std::unique_ptr<NotingLeader>> leaders;
  std::vector<const NotingLeader*> all;
  for (int round = 0; round < 3; ++round) {
    leaders.push_back(std::make_unique<NotingLeader>(server_->uri()));
    all.push_back(leaders.back().get());
    NotingLeader& mine = *leaders.back();
    Candidate& other = start("round-" + std::to_string(round));
    ASSERT_TRUE(eventually([&] { return mine.leads() || other.leads(); }));
    if (mine.leads()) {
      mine.resign();
      ASSERT_TRUE(eventually([&] { return other.leads(); }));
      round == 1 ? other.kill() : other.resign();
    } else {
      round == 1 ? other.kill() : other.resign();
      ASSERT_TRUE(eventually([&] { return mine.leads(); }));
      mine.resign();
    }
  }
  expect_one_leader(all);
}

TEST_P(KubernetesNeighbour, TheCertificateAndTheTokenAreVerified) {
  const std::string server = "k8s://shop?server=" + server_->address();
  const std::string token = "&token_file=" + server_->token_file();
  EXPECT_NE(kubernetes_refusal(server + token).find("is not to be trusted"), std::string::npos);
  EXPECT_NE(
      kubernetes_refusal(server + "&tls_ca=" + server_->authority()).find("rejects the token"),
      std::string::npos);
  EXPECT_EQ(kubernetes_refusal(server_->uri()), "accepted");
}

}  // namespace
}  // namespace latchkey::tests
