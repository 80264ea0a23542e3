// A backend whose outcomes a test decides.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include <latchkey/clock.hpp>
#include <latchkey/simple_backend.hpp>

namespace latchkey::inline v1::testing {

/// A GoogleMock mock of SimpleBackend. By default it grants every request, so that a test states
/// only the exceptions:
///
///     auto backend = std::make_unique<NiceMock<MockBackend>>();
///     EXPECT_CALL(*backend, acquire(RequestFor("account:42", LockType::WRITE)))
///         .WillOnce(Return(MockBackend::refused("not allowed")));
///     const latchkey::testing::ScopedLocks locks(std::move(backend));
///
/// Owners within one Locks exclude each other without the backend. Two Locks over mocks do not
/// exclude each other. `NiceMock` suppresses warnings about unexpected calls. The functions are
/// called on the threads that drive the backend, those for one key one after the other.
class MockBackend : public SimpleBackend {
 public:
  /// `clock` is that of the Options of its Locks.
  explicit MockBackend(Clock& clock = Clock::system());
  ~MockBackend() override;

  /// All lock types, without administration.
  [[nodiscard]] Capabilities capabilities() const noexcept override { return offered_; }
  /// Call this before the Locks are created.
  void offer(const Capabilities& capabilities) noexcept { offered_ = capabilities; }
  [[nodiscard]] std::string describe() const override { return "mock:"; }

  MOCK_METHOD(Outcome, acquire, (const Request& request), (override));
  MOCK_METHOD(Outcome, renew, (const Request& request), (override));
  MOCK_METHOD(Outcome, release, (const Request& request), (override));
  MOCK_METHOD(Outcome, verify, (const Request& request), (override));
  MOCK_METHOD(Outcome, leave, (const Request& request), (override));
  MOCK_METHOD(Outcome, downgrade, (const Request& request), (override));
  MOCK_METHOD(Outcome, inspect, (const Request& request), (override));
  MOCK_METHOD(Outcome, list, (const Request& request), (override));
  MOCK_METHOD(Outcome, force_release, (const Request& request), (override));

  /// Outcomes to return.
  using SimpleBackend::busy;
  using SimpleBackend::gone;
  using SimpleBackend::granted;
  using SimpleBackend::granted_if;
  /// The outcome is unknown: no reply arrived. `why` is a clause without a full stop.
  [[nodiscard]] static Outcome unknown(std::string why = "the mock does not answer");
  /// The backend refuses the request.
  [[nodiscard]] static Outcome refused(std::string why = "the mock refuses");

 private:
  Capabilities offered_;
  std::atomic<std::uint64_t> last_token_{0};
};

/// Matches requests for this key, with its prefix, and for this type if it is given.
[[nodiscard]] ::testing::Matcher<const Request&> RequestFor(
    std::string key, std::optional<LockType> type = std::nullopt);

}  // namespace latchkey::inline v1::testing

namespace latchkey::inline v1 {

/// How GoogleTest prints them.
void PrintTo(const Request& request, std::ostream* out);
void PrintTo(const Outcome& outcome, std::ostream* out);

}  // namespace latchkey::inline v1
