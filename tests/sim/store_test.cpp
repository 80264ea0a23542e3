// Third-party stores in the simulator: sound ones pass, broken ones are detected.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latchkey/options.hpp>
#include <latchkey/testing/simulator.hpp>

#include "memory/memory_backend.hpp"
#include "sim/seeds.hpp"
#include "unit/backend/toy_backend.hpp"

namespace latchkey::testing {
namespace {

/// The defect of the store.
enum class Flaw : std::uint8_t { none, anyone_releases, renew_revives, tokens_begin_again, silent };

class FlawedBackend final : public toy::ToyBackend {
 public:
  FlawedBackend(std::shared_ptr<toy::Store> store, Flaw flaw)
      : ToyBackend(store), rows_(*store), flaw_(flaw) {}

 protected:
  Outcome renew(const Request& ask) override {
    if (flaw_ != Flaw::renew_revives) return ToyBackend::renew(ask);
    rows_.rows[std::string(ask.key)] = {ask.id, later(rows_.clock.now(), ask.lease), 0};
    return granted();
  }
  Outcome release(const Request& ask) override {
    if (flaw_ != Flaw::anyone_releases) return ToyBackend::release(ask);
    return granted_if(rows_.rows.erase(std::string(ask.key)) > 0);
  }

 private:
  toy::Store& rows_;
  Flaw flaw_;
};

/// Accepts requests and never completes them.
class SilentBackend final : public Backend {
 public:
  [[nodiscard]] Capabilities capabilities() const noexcept override { return {}; }
  [[nodiscard]] std::string describe() const override { return "silent:"; }
  void submit(std::span<Request* const>, Sink&) override {}
  void drive(Parker&, Clock::time_point) override {}
};

class ToyStore final : public SimulatedStore {
 public:
  ToyStore(Clock& clock, Flaw flaw) : store_(std::make_shared<toy::Store>(clock)), flaw_(flaw) {}

  std::unique_ptr<Backend> connect() override {
    if (flaw_ == Flaw::silent) return std::make_unique<SilentBackend>();
    return std::make_unique<FlawedBackend>(store_, flaw_);
  }
  void restart() override {
    store_->rows.clear();
    if (flaw_ == Flaw::tokens_begin_again) store_->last_token = 0;
  }

 private:
  std::shared_ptr<toy::Store> store_;
  Flaw flaw_;
};

SimulationSettings toy_with(Flaw flaw) {
  return {.store = [flaw](Clock& clock) { return std::make_unique<ToyStore>(clock, flaw); }};
}

/// The first violation; empty if `most_seeds` seeds show none.
std::string violation_of(Flaw flaw, std::uint64_t most_seeds) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    const SimulationReport report = simulate(seed, toy_with(flaw));
    if (report.violation.empty()) continue;
    EXPECT_FALSE(report.trace.empty());
    return report.violation;
  }
  return {};
}

TEST(SimulatedStore, SoundStoreKeepsEveryPromise) {
  std::uint64_t grants = 0;
  for (std::uint64_t seed = 1; seed <= sim::seeds() / 10; ++seed) {
    const SimulationReport report = simulate(seed, toy_with(Flaw::none));
    ASSERT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
    grants += report.grants;
  }
  EXPECT_GT(grants, 2 * sim::seeds());
}

TEST(SimulatedStore, ReleaseByAStrangerIsDetected) {
  EXPECT_NE(violation_of(Flaw::anyone_releases, 200), "");
}

TEST(SimulatedStore, RenewalAfterExpiryIsDetected) {
  EXPECT_NE(violation_of(Flaw::renew_revives, 200), "");
}

TEST(SimulatedStore, TokensThatStartOverAreDetected) {
  EXPECT_THAT(violation_of(Flaw::tokens_begin_again, 500),
              ::testing::EndsWith(" token did not rise"));  // at the store, or at a caller
}

TEST(SimulatedStore, RequestWithoutAnOutcomeThrowsLogicError) {
  EXPECT_THROW(static_cast<void>(simulate(1, toy_with(Flaw::silent))), std::logic_error);
}

TEST(SimulatedStore, NullStoreThrowsInvalidArgument) {
  const MakeStore nothing = [](Clock&) { return std::unique_ptr<SimulatedStore>(); };
  EXPECT_THROW(static_cast<void>(simulate(1, {.store = nothing})), std::invalid_argument);
}

/// The memory backend, whose connections receive pushes.
class MemoryStore final : public SimulatedStore {
 public:
  explicit MemoryStore(Clock& clock) : options_{.clock = &clock} {
    keep_ = connect();  // the named space lives as long as it has a connection
  }
  std::unique_ptr<Backend> connect() override {
    return detail::make_memory_backend("memory:simulated", options_);
  }

 private:
  Options options_;
  std::unique_ptr<Backend> keep_;
};

TEST(SimulatedStore, StoreWithPushesKeepsEveryPromise) {
  const MakeStore memory = [](Clock& clock) { return std::make_unique<MemoryStore>(clock); };
  for (std::uint64_t seed = 1; seed <= sim::seeds() / 20; ++seed) {
    const SimulationReport report = simulate(seed, {.store = memory});
    ASSERT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
  }
}

}  // namespace
}  // namespace latchkey::testing
