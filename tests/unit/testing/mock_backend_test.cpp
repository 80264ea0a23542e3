// MockBackend: it grants by default, and a test sets other outcomes.
#include <latchkey/testing/mock_backend.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/manual_clock.hpp>

namespace latchkey::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::_;
using ::testing::HasSubstr;
using ::testing::InSequence;
using ::testing::NiceMock;
using ::testing::Return;
using ::testing::Throw;

struct Mocked {
  ManualClock clock;
  std::unique_ptr<NiceMock<MockBackend>> made = std::make_unique<NiceMock<MockBackend>>(clock);
  NiceMock<MockBackend>& backend = *made;

  /// Once the expectations are set.
  Locks locks() { return Locks(std::move(made), {.clock = &clock}); }
};

TEST(MockBackend, GrantsEverything) {
  Mocked mocked;
  const Locks locks = mocked.locks();
  std::uint64_t last = 0;
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    Hold hold = locks.lock("k", type).acquire(0ms, 10s);
    if (type == LockType::FENCED) {
      EXPECT_GT(*hold.fencing_token(), std::exchange(last, *hold.fencing_token()));
    }
    EXPECT_TRUE(hold.extend(20s));
    EXPECT_TRUE(hold.release());
  }
  EXPECT_GT(last, 0U);
  EXPECT_EQ(locks.describe(), "mock:");
}

TEST(MockBackend, ReturnsTheGivenOutcomes) {
  Mocked mocked;
  {
    const InSequence in_order;
    EXPECT_CALL(mocked.backend, acquire(RequestFor("a")))
        .WillOnce(Return(MockBackend::busy({}, "somebody else")));
    EXPECT_CALL(mocked.backend, acquire(RequestFor("a", LockType::FAIR)))
        .WillOnce(Return(MockBackend::refused("not allowed")));
    EXPECT_CALL(mocked.backend, acquire(_)).WillOnce(Throw(std::runtime_error("broken")));
  }
  const Locks locks = mocked.locks();
  try {
    static_cast<void>(locks.lock("a").acquire(0ms));
    FAIL();
  } catch (const LockTimeout& error) {
    EXPECT_EQ(error.holder(), "somebody else");
  }
  try {
    static_cast<void>(locks.lock("a", LockType::FAIR).acquire(0ms));
    FAIL();
  } catch (const BackendRefused& error) {
    EXPECT_THAT(error.what(), HasSubstr("not allowed"));
  }
  EXPECT_THROW(static_cast<void>(locks.lock("b").acquire(0ms)), BackendUnavailable);
}

TEST(MockBackend, MayTakeALockAway) {
  Mocked mocked;
  EXPECT_CALL(mocked.backend, verify(RequestFor("k"))).WillOnce(Return(MockBackend::gone()));
  const Locks locks = mocked.locks();
  const Hold hold = locks.lock("k").acquire(0ms, 30s);
  ASSERT_TRUE(mocked.clock.await_sleepers(1));
  mocked.clock.advance(10s);
  ASSERT_TRUE(mocked.clock.await_sleepers(1));
  EXPECT_TRUE(hold.lost());
}

TEST(MockBackend, OffersTheGivenCapabilities) {
  Mocked mocked;
  mocked.backend.offer({});
  const Locks locks = mocked.locks();
  EXPECT_THROW(static_cast<void>(locks.lock("k", LockType::FAIR)), std::invalid_argument);
}

TEST(MockBackend, PrintsRequestsAndOutcomes) {
  Request request;
  request.verb = Verb::renew;
  request.key = "k";
  request.lease = 3s;
  EXPECT_THAT(::testing::PrintToString(request), HasSubstr("renew REENTRANT 'k' as "));
  EXPECT_THAT(::testing::PrintToString(request), HasSubstr(" for 3000 ms"));
  EXPECT_EQ(::testing::PrintToString(MockBackend::unknown("why")), "unknown: why");
  EXPECT_EQ(::testing::PrintToString(MockBackend::granted()), "granted");
  EXPECT_EQ(::testing::DescribeMatcher<const Request&>(RequestFor("k", LockType::READ)),
            "is about the READ lock 'k'");
  EXPECT_EQ(::testing::DescribeMatcher<const Request&>(RequestFor("k"), true), "is not about 'k'");
}

}  // namespace
}  // namespace latchkey::testing
