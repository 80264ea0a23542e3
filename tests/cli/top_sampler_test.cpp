// The queries that `latchkey top` sends to the backend.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/locks.hpp>

#include "cli/top/sampler.hpp"

namespace latchkey::cli {
namespace {

using namespace std::chrono_literals;

/// Has no key. It refuses to list who waits while the test says so.
class ForbiddingBackend final : public Backend {
 public:
  explicit ForbiddingBackend(const std::atomic<bool>& forbids) : forbids_(forbids) {}
  [[nodiscard]] Capabilities capabilities() const noexcept override { return {}; }
  [[nodiscard]] std::string describe() const override { return "forbidding"; }
  void submit(std::span<Request* const> requests, Sink& sink) override {
    const std::lock_guard lock(mutex_);
    for (Request* const request : requests) submitted_.emplace_back(request, &sink);
  }
  void drive(Parker& /*parker*/, Clock::time_point /*until*/) override {
    std::vector<std::pair<Request*, Sink*>> submitted;
    {
      const std::lock_guard lock(mutex_);
      submitted.swap(submitted_);
    }
    for (const auto& [request, sink] : submitted) {
      Outcome outcome;
      const bool awaited = request->part != nullptr && request->part->awaited;
      outcome.kind = awaited && forbids_ ? Outcome::Kind::refused : Outcome::Kind::granted;
      if (request->part != nullptr) request->part->cursor = {};
      sink->completed(*request, std::move(outcome));
    }
  }

 private:
  const std::atomic<bool>& forbids_;
  std::mutex mutex_;
  std::vector<std::pair<Request*, Sink*>> submitted_;
};

// A permission that was granted later changed nothing for as long as the program ran.
TEST(Sampler, QueriesWhoWaitsAgainAfterARefusal) {
  std::atomic<bool> forbids = true;
  const TopOptions options;
  Sampler sampler(Locks(std::make_unique<ForbiddingBackend>(forbids)), options);
  const Sampler::TimePoint begin = std::chrono::steady_clock::now();
  const auto sample_at = [&](std::chrono::seconds time) {
    Sampler::Sample sample;
    sampler.query_keys(sample, begin + time);
    return sample;
  };
  EXPECT_FALSE(sample_at(0s).knows_waiters);
  EXPECT_TRUE(sample_at(0s).scan_ended) << "there are locks to show";
  forbids = false;
  EXPECT_FALSE(sample_at(2s).knows_waiters) << "the server is not asked with each sample";
  const Sampler::Sample later = sample_at(15s);
  EXPECT_TRUE(later.knows_waiters);
  EXPECT_TRUE(later.awaited.has_value());
}

}  // namespace
}  // namespace latchkey::cli
