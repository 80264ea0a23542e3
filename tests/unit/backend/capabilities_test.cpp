// Leases that a backend does not offer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <latchkey/capabilities.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/mock_backend.hpp>

#include "support/refusal.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::NiceMock;
using tests::refusal_by;

Capabilities session_of_30_s() {
  Capabilities offered;
  offered.lifetime = Capabilities::Lifetime::per_session;
  offered.min_lease = 2s;
  offered.max_lease = 30s;
  offered.lease_granularity = 1s;
  return offered;
}

Locks locks_with(const Capabilities& offered, Options options = {}) {
  auto backend = std::make_unique<NiceMock<testing::MockBackend>>();
  backend->offer(offered);
  ON_CALL(*backend, acquire).WillByDefault([](const Request&) {
    return testing::MockBackend::granted();
  });
  ON_CALL(*backend, renew).WillByDefault([](const Request&) {
    return testing::MockBackend::granted();
  });
  return Locks(std::move(backend), std::move(options));
}

TEST(Capabilities, EveryLeaseIsOfferedUnlessALimitIsNamed) {
  const Capabilities offered;
  for (const auto lease : {10ms, 11ms, 30'000ms, 315'360'000'000ms}) {
    EXPECT_TRUE(offered.offers(lease)) << offered.why_not(lease);
  }
}

TEST(Capabilities, ALeaseThatDoesNotFitIsExplained) {
  const Capabilities offered = session_of_30_s();
  EXPECT_EQ(offered.why_not(30s), "");
  EXPECT_EQ(offered.why_not(1s), "offers no lease of 1 s: its least is 2 s");
  EXPECT_EQ(offered.why_not(2'500ms),
            "offers no lease of 2500 ms: its leases are multiples of 1 s");
  EXPECT_EQ(offered.why_not(31s),
            "offers no lease of 31 s: its session lasts 30 s, and no hold outlives it; ask for a "
            "longer session in the URI or a shorter lease");
  Capabilities limited;
  limited.max_lease = 60s;
  EXPECT_EQ(limited.why_not(61s), "offers no lease of 61 s: its longest is 60 s");
}

TEST(Capabilities, EveryCallWithALeaseRefusesOneThatDoesNotFit) {
  const Locks locks = locks_with(session_of_30_s());
  Lock one = locks.lock("a");
  Lock both = locks.all_of({locks.lock("a"), locks.lock("b")});
  EXPECT_THAT(refusal_by<std::invalid_argument>([&] { static_cast<void>(one.acquire(1s, 1s)); }),
              HasSubstr("mock: offers no lease of 1 s"));
  EXPECT_THAT(
      refusal_by<std::invalid_argument>([&] { static_cast<void>(one.try_acquire(1s, 31s)); }),
      HasSubstr("its session lasts 30 s"));
  EXPECT_THAT(
      refusal_by<std::invalid_argument>([&] { static_cast<void>(both.try_acquire(1s, 31s)); }),
      HasSubstr("its session lasts 30 s"));
  Hold hold = one.acquire(1s, 5s);
  EXPECT_THAT(refusal_by<std::invalid_argument>([&] { hold.extend(31s); }),
              HasSubstr("its session lasts 30 s"));
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.extend(10s));
}

TEST(Capabilities, LocksRefuseAWatchdogThatDoesNotFit) {
  Options options;
  options.watchdog = 60s;
  EXPECT_THAT(refusal_by<std::invalid_argument>([&] { locks_with(session_of_30_s(), options); }),
              HasSubstr("its session lasts 30 s"));
}

TEST(Capabilities, LocksReturnThem) {
  EXPECT_EQ(locks_with(session_of_30_s()).capabilities().max_lease, 30s);
}

}  // namespace
}  // namespace latchkey
